/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made by make-expressions. */
#pragma GCC system_header	/* C warns of what nobody would write */
X("((ret > arg6) ^ (0xa) / arg5:u8 || !0 <= arg3:u32 * 0x2) ^ -(latency + (3588680933)) << 7",
  ((ret > a6) ^ (0xaLL) / a5 || !0LL <= a3 * 0x2LL) ^ -(latency + (3588680933LL)) << 7LL)
X("(2 ? 10 : (7)) > 0x7 / arg6 > (ret ? (latency ? 10 : arg4:s32) : 0x3f)",
  (2LL ? 10LL : (7LL)) > 0x7LL / a6 > (ret ? (latency ? 10LL : a4) : 0x3fLL))
X("arg5:u8 >= 0x1",
  a5 >= 0x1LL)
X("63 ? 7 : arg3:u32",
  63LL ? 7LL : a3)
X("(arg4:s32) - (arg6 == 0) - ((arg6 >= (arg1)) || (arg1) >= arg3:u32) > arg1",
  (a4) - (a6 == 0LL) - ((a6 >= (a1)) || (a1) >= a3) > a1)
X("arg1",
  a1)
X("latency >= 0xff",
  latency >= 0xffLL)
X("arg2:s64",
  a2)
X("ret < arg1",
  ret < a1)
X("(!0x7) ^ (0) % arg3:u32",
  (!0x7LL) ^ (0LL) % a3)
X("-(arg4:s32 != arg4:s32 != 4096)",
  -(a4 != a4 != 4096LL))
X("(10) + arg5:u8",
  (10LL) + a5)
X("(arg6 == arg1 || (2 + (arg4:s32))) - (arg6 ^ arg5:u8 || 7 | arg4:s32)",
  (a6 == a1 || (2LL + (a4))) - (a6 ^ a5 || 7LL | a4))
X("arg4:s32 < 1237306901",
  a4 < 1237306901LL)
X("-3",
  -3LL)
X("7",
  7LL)
X("~ret",
  ~ret)
X("((arg3:u32) + ret) == ~arg2:s64",
  ((a3) + ret) == ~a2)
X("4096 && 0xa",
  4096LL && 0xaLL)
X("arg5:u8",
  a5)
X("arg5:u8 ? 0xc7ddad75 : arg3:u32",
  a5 ? 0xc7ddad75LL : a3)
X("ret > arg3:u32",
  ret > a3)
X("-(arg1 ^ arg4:s32) / (latency & (latency))",
  -(a1 ^ a4) / (latency & (latency)))
X("arg1 / 0xffe00f7b",
  a1 / 0xffe00f7bLL)
X("~((arg2:s64) ^ ~latency)",
  ~((a2) ^ ~latency))
X("!latency",
  !latency)
X("-(arg4:s32)",
  -(a4))
X("ret",
  ret)
X("-ret",
  -ret)
X("~arg4:s32",
  ~a4)
X("arg5:u8 - (arg4:s32)",
  a5 - (a4))
X("!(latency ? latency | arg1 : (arg1))",
  !(latency ? latency | a1 : (a1)))
X("!(-latency - arg3:u32)",
  !(-latency - a3))
X("255",
  255LL)
X("arg3:u32",
  a3)
X("(3) <= arg2:s64",
  (3LL) <= a2)
X("(arg2:s64 != 0x0) / (arg6 != latency)",
  (a2 != 0x0LL) / (a6 != latency))
X("~(arg4:s32 < arg6)",
  ~(a4 < a6))
X("(0 || arg6) <= (latency | arg6)",
  (0LL || a6) <= (latency | a6))
X("(1650542098 ^ (arg6 > arg1)) > ~(arg3:u32 | (arg1))",
  (1650542098LL ^ (a6 > a1)) > ~(a3 | (a1)))
X("!(!(63 ? latency : arg1))",
  !(!(63LL ? latency : a1)))
X("(arg2:s64 <= arg4:s32) / (~latency) - (arg4:s32 > arg6) * (latency % arg3:u32)",
  (a2 <= a4) / (~latency) - (a4 > a6) * (latency % a3))
X("latency",
  latency)
X("((7) ? arg3:u32 : 0xa) > (arg3:u32 ? latency : arg1)",
  ((7LL) ? a3 : 0xaLL) > (a3 ? latency : a1))
X("ret ? arg4:s32 : 0",
  ret ? a4 : 0LL)
X("arg2:s64 ? arg4:s32 : (latency)",
  a2 ? a4 : (latency))
X("0 / arg5:u8 ? 63 ^ (arg4:s32) : 0x7",
  0LL / a5 ? 63LL ^ (a4) : 0x7LL)
X("0",
  0LL)
X("2 ? 2 : (arg1)",
  2LL ? 2LL : (a1))
X("0xff ? -((arg2:s64) || (arg4:s32)) : -(arg1 && arg4:s32)",
  0xffLL ? -((a2) || (a4)) : -(a1 && a4))
X("-(!(4096 < arg2:s64))",
  -(!(4096LL < a2)))
X("-(arg2:s64 >= 4096)",
  -(a2 >= 4096LL))
X("((arg3:u32 < (arg2:s64)) | (arg5:u8 ? arg6 : 10)) >> (0x2 < 0x1)",
  ((a3 < (a2)) | (a5 ? a6 : 10LL)) >> (0x2LL < 0x1LL))
X("arg3:u32 - ret",
  a3 - ret)
X("(ret ^ 4096) != (arg4:s32 || (4096))",
  (ret ^ 4096LL) != (a4 || (4096LL)))
X("!arg5:u8",
  !a5)
X("latency * arg5:u8",
  latency * a5)
X("arg4:s32 % ret",
  a4 % ret)
X("0x7",
  0x7LL)
X("arg5:u8 - arg6",
  a5 - a6)
X("arg2:s64 + arg1 ? (arg1) / arg3:u32 : arg4:s32 == 0xff",
  a2 + a1 ? (a1) / a3 : a4 == 0xffLL)
X("!0x1",
  !0x1LL)
X("arg4:s32",
  a4)
X("0x3",
  0x3LL)
X("(arg2:s64) ^ 10",
  (a2) ^ 10LL)
X("(arg2:s64 / arg2:s64 ? (arg2:s64) < arg2:s64 : 1 % arg3:u32) * (-arg1 || ~0xff)",
  (a2 / a2 ? (a2) < a2 : 1LL % a3) * (-a1 || ~0xffLL))
X("491664836",
  491664836LL)
X("(arg3:u32) + arg4:s32",
  (a3) + a4)
X("arg6 <= arg2:s64",
  a6 <= a2)
X("ret % (arg2:s64) ? arg5:u8 + arg1 : 63",
  ret % (a2) ? a5 + a1 : 63LL)
X("!(arg2:s64 == arg5:u8) + (latency != 7) * (ret ? 0x0 : arg5:u8)",
  !(a2 == a5) + (latency != 7LL) * (ret ? 0x0LL : a5))
X("((-(arg2:s64 >= 0x1000)) < (arg3:u32 ^ arg1) + (ret + 3)) * arg5:u8",
  ((-(a2 >= 0x1000LL)) < (a3 ^ a1) + (ret + 3LL)) * a5)
X("10 | arg1",
  10LL | a1)
X("~(-latency) % ((latency ? 0x7 : arg6) | (0xc169f299 && ret))",
  ~(-latency) % ((latency ? 0x7LL : a6) | (0xc169f299LL && ret)))
X("(arg6 * arg2:s64) > (0xb93e424b <= ret)",
  (a6 * a2) > (0xb93e424bLL <= ret))
X("((arg5:u8 <= (arg3:u32)) ^ arg3:u32) - 0xa && (!(!(ret != 0xa)))",
  ((a5 <= (a3)) ^ a3) - 0xaLL && (!(!(ret != 0xaLL))))
X("((0x1 ^ ret) < (ret & 0)) && ~(0xff <= arg6)",
  ((0x1LL ^ ret) < (ret & 0LL)) && ~(0xffLL <= a6))
X("!(arg1 | arg6)",
  !(a1 | a6))
X("!((arg3:u32 <= arg3:u32) - (arg2:s64 < arg2:s64))",
  !((a3 <= a3) - (a2 < a2)))
X("-(latency == arg5:u8)",
  -(latency == a5))
X("0xa != arg5:u8 || ((0x3f) || 0x0)",
  0xaLL != a5 || ((0x3fLL) || 0x0LL))
X("(~4096) == (arg2:s64 || latency)",
  (~4096LL) == (a2 || latency))
X("(arg5:u8 > 1) ^ (arg1 ^ 7)",
  (a5 > 1LL) ^ (a1 ^ 7LL))
X("arg5:u8 ^ arg6",
  a5 ^ a6)
X("ret && arg5:u8",
  ret && a5)
X("(-((arg4:s32 ^ latency) & (3 < arg1))) >= (!(arg3:u32 & arg1) || ret)",
  (-((a4 ^ latency) & (3LL < a1))) >= (!(a3 & a1) || ret))
X("(arg6 ? arg4:s32 : arg4:s32) - arg1 % 10 & 0x3f",
  (a6 ? a4 : a4) - a1 % 10LL & 0x3fLL)
X("7 - 1 <= ((arg2:s64) < arg4:s32)",
  7LL - 1LL <= ((a2) < a4))
X("118101539 * arg1",
  118101539LL * a1)
X("arg1 < (0 | arg1)",
  a1 < (0LL | a1))
X("!latency && 255",
  !latency && 255LL)
X("0xff && arg6",
  0xffLL && a6)
X("-(arg6 ? arg1 : arg1)",
  -(a6 ? a1 : a1))
X("1 != 0x1000",
  1LL != 0x1000LL)
X("~latency != arg1 <= arg2:s64",
  ~latency != a1 <= a2)
X("~arg5:u8",
  ~a5)
X("arg1 >= 63",
  a1 >= 63LL)
X("(ret ^ ret) > (arg3:u32 + ret)",
  (ret ^ ret) > (a3 + ret))
X("(arg1 && arg2:s64) >= arg3:u32 >> 3",
  (a1 && a2) >= a3 >> 3LL)
X("255 + arg1",
  255LL + a1)
X("(arg6) % arg6",
  (a6) % a6)
X("10 + ((arg2:s64 < arg4:s32) / (arg3:u32 * ret) == !(arg1 == arg4:s32))",
  10LL + ((a2 < a4) / (a3 * ret) == !(a1 == a4)))
X("ret >= 3",
  ret >= 3LL)
X("(2371061404 && arg3:u32) > 63",
  (2371061404LL && a3) > 63LL)
X("(0x3f) - (arg1)",
  (0x3fLL) - (a1))
X("!0x3f",
  !0x3fLL)
X("~((arg4:s32 ? arg5:u8 : 255) ? -arg4:s32 : -arg1)",
  ~((a4 ? a5 : 255LL) ? -a4 : -a1))
X("0x1000 != ~((latency) != arg3:u32)",
  0x1000LL != ~((latency) != a3))
X("-arg2:s64",
  -a2)
X("arg5:u8 ? arg5:u8 : arg3:u32",
  a5 ? a5 : a3)
X("!((arg2:s64) + arg1 > (arg3:u32 && arg1))",
  !((a2) + a1 > (a3 && a1)))
X("((0x0) ? 0x1 : (ret)) % arg6",
  ((0x0LL) ? 0x1LL : (ret)) % a6)
X("(!3418537328 <= ~arg1) | 7",
  (!3418537328LL <= ~a1) | 7LL)
X("arg5:u8 & 0x3f ^ (!arg4:s32)",
  a5 & 0x3fLL ^ (!a4))
X("~latency",
  ~latency)
X("!arg1 < 255 % (4096)",
  !a1 < 255LL % (4096LL))
X("255 - (4096) & arg5:u8",
  255LL - (4096LL) & a5)
X("(arg1) % arg2:s64 - (0 <= 3)",
  (a1) % a2 - (0LL <= 3LL))
X("(arg2:s64 ^ 1) < ((arg2:s64 ? arg5:u8 : arg5:u8) + arg6 % arg5:u8) / -latency",
  (a2 ^ 1LL) < ((a2 ? a5 : a5) + a6 % a5) / -latency)
X("(arg4:s32) && arg1",
  (a4) && a1)
X("latency && arg2:s64",
  latency && a2)
X("-(0x1 > arg1) + latency",
  -(0x1LL > a1) + latency)
X("arg4:s32 >> 3 ? (10 ? arg4:s32 : 0) : latency * 10",
  a4 >> 3LL ? (10LL ? a4 : 0LL) : latency * 10LL)
X("arg3:u32 > latency <= (4096 ^ arg3:u32)",
  a3 > latency <= (4096LL ^ a3))
X("0xa - arg5:u8",
  0xaLL - a5)
X("arg5:u8 | 4096",
  a5 | 4096LL)
X("-(arg4:s32 > arg4:s32)",
  -(a4 > a4))
X("arg6",
  a6)
X("arg1 + arg6 || arg2:s64 <= latency",
  a1 + a6 || a2 <= latency)
X("(0x9f8894f4) - !(2 == arg5:u8)",
  (0x9f8894f4LL) - !(2LL == a5))
X("arg3:u32 ? arg3:u32 : ret",
  a3 ? a3 : ret)
X("!0xff",
  !0xffLL)
X("0x3f",
  0x3fLL)
X("-arg3:u32 && ret & (arg2:s64)",
  -a3 && ret & (a2))
X("~(-7)",
  ~(-7LL))
X("3 + arg6 || arg1",
  3LL + a6 || a1)
X("arg5:u8 > (0x3)",
  a5 > (0x3LL))
X("(arg4:s32) < (7 / arg6 ^ (arg4:s32 ? latency : (arg3:u32)))",
  (a4) < (7LL / a6 ^ (a4 ? latency : (a3))))
X("1",
  1LL)
X("0x7 | arg5:u8",
  0x7LL | a5)
X("latency % ret >= (arg3:u32 < 3)",
  latency % ret >= (a3 < 3LL))
X("~(arg6 <= arg2:s64 ? -255 : arg3:u32 <= 0x1)",
  ~(a6 <= a2 ? -255LL : a3 <= 0x1LL))
X("latency ? arg6 : 63",
  latency ? a6 : 63LL)
X("((arg2:s64) * arg5:u8 > arg3:u32) % (~7 & arg3:u32) & ret",
  ((a2) * a5 > a3) % (~7LL & a3) & ret)
X("(arg2:s64) != (arg6 < ret)",
  (a2) != (a6 < ret))
X("arg2:s64 % 1 ? arg1 == 0xa : arg6 + 2",
  a2 % 1LL ? a1 == 0xaLL : a6 + 2LL)
X("0x0",
  0x0LL)
X("(arg3:u32) ? arg6 : arg5:u8",
  (a3) ? a6 : a5)
X("~(~(arg5:u8 - 0x7))",
  ~(~(a5 - 0x7LL)))
X("latency | arg3:u32 ^ (arg4:s32)",
  latency | a3 ^ (a4))
X("4096 >> (arg6 > (0x1))",
  4096LL >> (a6 > (0x1LL)))
X("-((arg3:u32 | 0) - 1 && ~(latency && arg5:u8))",
  -((a3 | 0LL) - 1LL && ~(latency && a5)))
X("-arg6",
  -a6)
X("(-(!arg5:u8) || ret) <= (0x2 >= (3 ^ latency ^ (arg6 >= arg3:u32)))",
  (-(!a5) || ret) <= (0x2LL >= (3LL ^ latency ^ (a6 >= a3))))
X("-0x3",
  -0x3LL)
X("~(~(latency + 0x3f))",
  ~(~(latency + 0x3fLL)))
X("arg5:u8 % arg5:u8 <= 63",
  a5 % a5 <= 63LL)
X("arg4:s32 || arg2:s64 ? arg1 & ret : arg2:s64 & arg2:s64",
  a4 || a2 ? a1 & ret : a2 & a2)
X("latency & (arg3:u32)",
  latency & (a3))
X("-arg4:s32",
  -a4)
X("(((arg6 <= 10) | (0x2 ? 548624662 : (4096))) < (arg2:s64 <= !10)) ^ arg2:s64",
  (((a6 <= 10LL) | (0x2LL ? 548624662LL : (4096LL))) < (a2 <= !10LL)) ^ a2)
X("0xff >= -(arg4:s32 < 10)",
  0xffLL >= -(a4 < 10LL))
X("~(!2)",
  ~(!2LL))
X("((arg1) == 0) / (255 + arg5:u8)",
  ((a1) == 0LL) / (255LL + a5))
X("arg1 != (arg2:s64) % arg3:u32",
  a1 != (a2) % a3)
X("-(-2) >> !(~arg1) / arg2:s64",
  -(-2LL) >> !(~a1) / a2)
X("(arg4:s32 ? arg2:s64 : arg3:u32) + arg4:s32 * arg2:s64 || (arg3:u32 & ret) >= -arg2:s64",
  (a4 ? a2 : a3) + a4 * a2 || (a3 & ret) >= -a2)
X("arg3:u32 - (arg1 & arg6)",
  a3 - (a1 & a6))
X("(ret & (!arg2:s64 && 0xf66ce26a)) / (-(arg6) && 255)",
  (ret & (!a2 && 0xf66ce26aLL)) / (-(a6) && 255LL))
X("3",
  3LL)
X("3 - (3) != (arg4:s32 != arg5:u8)",
  3LL - (3LL) != (a4 != a5))
X("arg3:u32 % arg2:s64 < (latency ? 0x3 : 63)",
  a3 % a2 < (latency ? 0x3LL : 63LL))
X("(0x3 > (0x7) > arg1 / 3097583545) ^ (arg1 % arg3:u32 != latency)",
  (0x3LL > (0x7LL) > a1 / 3097583545LL) ^ (a1 % a3 != latency))
X("!(10 < 7)",
  !(10LL < 7LL))
X("arg3:u32 / ret",
  a3 / ret)
X("arg2:s64 + arg3:u32",
  a2 + a3)
X("~arg3:u32",
  ~a3)
X("~0x3f",
  ~0x3fLL)
X("((arg4:s32) ? arg6 : arg2:s64) != ~0xa || -(arg2:s64 ? (ret) : arg1)",
  ((a4) ? a6 : a2) != ~0xaLL || -(a2 ? (ret) : a1))
X("~arg1 && (latency ? latency : latency)",
  ~a1 && (latency ? latency : latency))
X("(((arg3:u32) ^ 2) >= (arg5:u8 | arg4:s32)) <= ~(2 != (arg1))",
  (((a3) ^ 2LL) >= (a5 | a4)) <= ~(2LL != (a1)))
X("-0xff ? (ret == 0x7) : (arg5:u8) / arg6",
  -0xffLL ? (ret == 0x7LL) : (a5) / a6)
X("~(!(!0xde811452))",
  ~(!(!0xde811452LL)))
X("-arg4:s32 & (arg4:s32 & 0)",
  -a4 & (a4 & 0LL))
X("~((arg3:u32 || arg4:s32) & (2 ^ latency))",
  ~((a3 || a4) & (2LL ^ latency)))
X("latency | 0x0 & arg2:s64",
  latency | 0x0LL & a2)
X("(arg5:u8) <= 0x7",
  (a5) <= 0x7LL)
X("((arg1 ? arg1 : arg1) | arg2:s64 % arg2:s64) > ~latency * arg3:u32",
  ((a1 ? a1 : a1) | a2 % a2) > ~latency * a3)
X("~(arg2:s64 + (arg6)) ? 63 : ret / ret ? (arg3:u32) ^ 7 : ret >= arg5:u8",
  ~(a2 + (a6)) ? 63LL : ret / ret ? (a3) ^ 7LL : ret >= a5)
X("(arg2:s64 != 0) / !0x0",
  (a2 != 0LL) / !0x0LL)
X("!arg1",
  !a1)
X("((0xa <= arg5:u8) | (latency <= ret)) >= ((0x2 | arg4:s32) <= (4096 == ret))",
  ((0xaLL <= a5) | (latency <= ret)) >= ((0x2LL | a4) <= (4096LL == ret)))
X("-63",
  -63LL)
X("latency >= (0x1) < (ret < arg1)",
  latency >= (0x1LL) < (ret < a1))
X("(10 == 10) < ((arg3:u32 ^ arg5:u8) <= !2)",
  (10LL == 10LL) < ((a3 ^ a5) <= !2LL))
X("arg5:u8 > arg6 < (arg4:s32 ^ 255)",
  a5 > a6 < (a4 ^ 255LL))
X("!1933391257 && 63",
  !1933391257LL && 63LL)
X("3415419752",
  3415419752LL)
X("63 || (arg1)",
  63LL || (a1))
X("-(~(arg2:s64 - arg1)) != ret + (arg3:u32 <= arg6 <= (arg1 - arg6))",
  -(~(a2 - a1)) != ret + (a3 <= a6 <= (a1 - a6)))
X("arg5:u8 % arg2:s64",
  a5 % a2)
X("((arg3:u32 % arg3:u32 ? ~arg5:u8 : ret % arg3:u32) != (~(0x1000 - arg3:u32))) / 255",
  ((a3 % a3 ? ~a5 : ret % a3) != (~(0x1000LL - a3))) / 255LL)
X("arg1 == 2472596772 << 7",
  a1 == 2472596772LL << 7LL)
X("!1",
  !1LL)
X("arg3:u32 - (ret)",
  a3 - (ret))
X("(arg5:u8) * arg6 ? 0x2 > 255 : ret & arg2:s64",
  (a5) * a6 ? 0x2LL > 255LL : ret & a2)
X("0x3 + 1744410318",
  0x3LL + 1744410318LL)
X("0 & arg5:u8 & arg4:s32 / ret",
  0LL & a5 & a4 / ret)
X("-(-((3 >= arg4:s32) & (arg3:u32 || arg4:s32)))",
  -(-((3LL >= a4) & (a3 || a4))))
X("-((0x739d78f8 << 0) + (0x0 | latency))",
  -((0x739d78f8LL << 0LL) + (0x0LL | latency)))
X("(~arg3:u32 ? arg3:u32 == ret : 0xff * arg6) & (!(arg4:s32 - arg6))",
  (~a3 ? a3 == ret : 0xffLL * a6) & (!(a4 - a6)))
X("(!(arg1 != arg4:s32) && -latency <= arg1 * arg6) == arg1",
  (!(a1 != a4) && -latency <= a1 * a6) == a1)
X("arg6 % arg3:u32",
  a6 % a3)
X("~(arg5:u8 % arg5:u8) >= (arg4:s32 | (!(0x3)))",
  ~(a5 % a5) >= (a4 | (!(0x3LL))))
X("~((1 | arg4:s32) > (arg2:s64 == 255))",
  ~((1LL | a4) > (a2 == 255LL)))
X("~2825573681",
  ~2825573681LL)
X("~(~(~(arg1 && arg2:s64)))",
  ~(~(~(a1 && a2))))
X("arg4:s32 * (latency)",
  a4 * (latency))
X("-0x7",
  -0x7LL)
X("arg2:s64 / (-0xff - (arg6 << 0x0)) && ~(255 <= 10 <= (arg5:u8 <= (0xff)))",
  a2 / (-0xffLL - (a6 << 0x0LL)) && ~(255LL <= 10LL <= (a5 <= (0xffLL))))
X("2 ? latency : arg4:s32",
  2LL ? latency : a4)
X("arg3:u32 + (latency != arg1)",
  a3 + (latency != a1))
X("(arg5:u8 && arg2:s64) >= ((-arg1) + (arg4:s32 && arg3:u32))",
  (a5 && a2) >= ((-a1) + (a4 && a3)))
X("latency && (arg4:s32)",
  latency && (a4))
X("latency ? 7 - arg5:u8 ^ (-ret) : ret ^ ret ^ (arg6 >= arg6)",
  latency ? 7LL - a5 ^ (-ret) : ret ^ ret ^ (a6 >= a6))
X("((arg3:u32) && latency) && ret + 0x3f",
  ((a3) && latency) && ret + 0x3fLL)
X("arg6 <= 4096 < -latency",
  a6 <= 4096LL < -latency)
X("2 ? arg4:s32 && arg3:u32 : arg2:s64 + (arg1)",
  2LL ? a4 && a3 : a2 + (a1))
X("arg3:u32 % (~(latency && latency) % ret)",
  a3 % (~(latency && latency) % ret))
X("latency < ret",
  latency < ret)
X("arg1 + -(255)",
  a1 + -(255LL))
X("arg2:s64 > latency < 0x3f",
  a2 > latency < 0x3fLL)
X("3631874355 <= arg2:s64",
  3631874355LL <= a2)
X("4096 >= !((ret ^ 3) < (arg5:u8 ? (ret) : arg3:u32))",
  4096LL >= !((ret ^ 3LL) < (a5 ? (ret) : a3)))
X("(arg4:s32) * ((arg1) >> 63 <= (10 - 3))",
  (a4) * ((a1) >> 63LL <= (10LL - 3LL)))
X("!(4096 - 255)",
  !(4096LL - 255LL))
X("(ret || arg4:s32) + (arg5:u8 ? arg1 : latency)",
  (ret || a4) + (a5 ? a1 : latency))
X("!(0 > 0x7 && (4096 != (10)))",
  !(0LL > 0x7LL && (4096LL != (10LL))))
X("255 * (!3) < (0xb2abedea <= arg1) - (0 > arg5:u8)",
  255LL * (!3LL) < (0xb2abedeaLL <= a1) - (0LL > a5))
X("-(arg4:s32 >= 3)",
  -(a4 >= 3LL))
X("~arg6",
  ~a6)
X("(arg1 ? latency : 0x3f) && arg1 <= arg1",
  (a1 ? latency : 0x3fLL) && a1 <= a1)
X("(arg2:s64 & arg6) - (688109214 >= arg5:u8)",
  (a2 & a6) - (688109214LL >= a5))
X("(0 != ret) & ret && (4096 + arg2:s64 ? arg3:u32 == arg2:s64 : (255 ^ latency))",
  (0LL != ret) & ret && (4096LL + a2 ? a3 == a2 : (255LL ^ latency)))
X("latency + 1",
  latency + 1LL)
X("0xa / !(-(arg4:s32) == (arg2:s64 || ret))",
  0xaLL / !(-(a4) == (a2 || ret)))
X("0xa",
  0xaLL)
X("arg4:s32 <= -arg6",
  a4 <= -a6)
X("-((-(arg6) <= (arg5:u8 || arg4:s32)) % (arg6 * (arg4:s32 ^ 0)))",
  -((-(a6) <= (a5 || a4)) % (a6 * (a4 ^ 0LL))))
X("~arg4:s32 < (arg6 | 0x1000) / (0x2 % arg6)",
  ~a4 < (a6 | 0x1000LL) / (0x2LL % a6))
X("arg3:u32 ? 7 : arg6",
  a3 ? 7LL : a6)
X("(arg5:u8) > 1010960725 >= 0xa",
  (a5) > 1010960725LL >= 0xaLL)
X("(latency && arg1) | (arg1 + 0x3f) | (arg6 & arg3:u32 && 0x3 > arg3:u32)",
  (latency && a1) | (a1 + 0x3fLL) | (a6 & a3 && 0x3LL > a3))
X("-(-arg1)",
  -(-a1))
X("10 == ret",
  10LL == ret)
X("(arg1) >= arg3:u32 ? 3 : 3 < arg3:u32",
  (a1) >= a3 ? 3LL : 3LL < a3)
X("((arg2:s64) && 0) != (arg5:u8 || arg3:u32)",
  ((a2) && 0LL) != (a5 || a3))
X("0x2 < ret",
  0x2LL < ret)
X("10",
  10LL)
X("arg3:u32 - 0x0 || (arg5:u8)",
  a3 - 0x0LL || (a5))
X("63 % 1",
  63LL % 1LL)
X("(2) - arg6",
  (2LL) - a6)
X("-arg1",
  -a1)
X("arg6 | arg6",
  a6 | a6)
X("arg1 > ((791572464 | 2 || -ret) / (-arg3:u32 ^ (2 ^ (ret))))",
  a1 > ((791572464LL | 2LL || -ret) / (-a3 ^ (2LL ^ (ret)))))
X("latency * (0 * arg6) > (arg1)",
  latency * (0LL * a6) > (a1))
X("!(((arg5:u8) & (arg4:s32)) > arg2:s64 * arg1)",
  !(((a5) & (a4)) > a2 * a1))
X("arg4:s32 ? latency : latency",
  a4 ? latency : latency)
X("latency << arg6 % arg1",
  latency << a6 % a1)
X("arg5:u8 + 0x0",
  a5 + 0x0LL)
X("arg1 <= 63",
  a1 <= 63LL)
X("-(arg2:s64 > latency)",
  -(a2 > latency))
X("arg5:u8 | ((arg6 == arg6) & (0 >= 0xa)) - ((latency >= arg6) + (arg3:u32 < arg2:s64))",
  a5 | ((a6 == a6) & (0LL >= 0xaLL)) - ((latency >= a6) + (a3 < a2)))
X("(latency < arg3:u32 < -arg2:s64) & arg5:u8",
  (latency < a3 < -a2) & a5)
X("(arg1 * ret) >> (ret && arg3:u32)",
  (a1 * ret) >> (ret && a3))
X("~0x32288a12 & -(-ret)",
  ~0x32288a12LL & -(-ret))
X("!(arg3:u32 / latency)",
  !(a3 / latency))
X("((0x3) < arg5:u8 + 7) && (-(-arg2:s64))",
  ((0x3LL) < a5 + 7LL) && (-(-a2)))
X("(ret * arg4:s32) < (2 == arg6) != (4096 && arg4:s32 ? -(2) : 0x3f >> 3)",
  (ret * a4) < (2LL == a6) != (4096LL && a4 ? -(2LL) : 0x3fLL >> 3LL))
X("(arg1 | (2044466442)) - 1",
  (a1 | (2044466442LL)) - 1LL)
X("arg5:u8 / arg4:s32 / ~arg6",
  a5 / a4 / ~a6)
X("-(-arg1 & latency + ret + ((arg1) < ret))",
  -(-a1 & latency + ret + ((a1) < ret)))
X("(arg6 & latency) >> -arg2:s64",
  (a6 & latency) >> -a2)
X("(~latency ? ~arg3:u32 : ~(4096)) != 0x2",
  (~latency ? ~a3 : ~(4096LL)) != 0x2LL)
X("~10 < (255 < (4096))",
  ~10LL < (255LL < (4096LL)))
X("-(0xff)",
  -(0xffLL))
X("latency <= arg5:u8 && arg6",
  latency <= a5 && a6)
X("(arg2:s64 > (arg6 < (arg5:u8))) & ((arg2:s64 | arg6) < arg5:u8 % arg2:s64)",
  (a2 > (a6 < (a5))) & ((a2 | a6) < a5 % a2))
X("-(arg2:s64 ? arg3:u32 % ret : (arg6) <= 10)",
  -(a2 ? a3 % ret : (a6) <= 10LL))
X("~(arg3:u32 && arg3:u32 || 0xff > latency)",
  ~(a3 && a3 || 0xffLL > latency))
X("!0x1000",
  !0x1000LL)
X("arg2:s64 != arg2:s64 || ~arg4:s32",
  a2 != a2 || ~a4)
X("arg5:u8 && arg2:s64",
  a5 && a2)
X("-1925801246",
  -1925801246LL)
X("(latency != latency) >= (latency ? arg2:s64 : arg4:s32)",
  (latency != latency) >= (latency ? a2 : a4))
X("1 <= 0x2",
  1LL <= 0x2LL)
X("-arg3:u32",
  -a3)
X("~(arg6 > arg3:u32 == arg4:s32 - (arg6))",
  ~(a6 > a3 == a4 - (a6)))
X("~(latency | (arg5:u8 * 848854612 | (arg4:s32 ? arg1 : arg2:s64)))",
  ~(latency | (a5 * 848854612LL | (a4 ? a1 : a2))))
X("~((arg1) / latency > arg1 / arg6)",
  ~((a1) / latency > a1 / a6))
