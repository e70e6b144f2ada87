#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kernel that somebody brings for a guest: what is taken of it, and the one sentence that
# says why it cannot be.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

T=$(mktemp -d)
MEMTAP_CACHE=$T/cache
export MEMTAP_CACHE
trap 'rm -rf "$T"' EXIT
# said STATUS REGEXP COMMAND...: it fails so, with one line that matches
said() {
	local status=$1 regexp=$2 rc=0
	shift 2
	"$@" > /dev/null 2> "$T/said" || rc=$?
	[ "$rc" = "$status" ] && [ "$(wc -l < "$T/said")" = 1 ] && grep -Eq -- "$regexp" "$T/said"
}

# a tree in which a kernel was built, as far as anybody looks at it
tree=$T/linux
mkdir -p "$tree"/{arch/x86/boot,include/generated,scripts,drivers/net,mm}
echo image > "$tree/arch/x86/boot/bzImage"
echo '#define UTS_RELEASE "4.4.0-mine"' > "$tree/include/generated/utsrelease.h"
echo 'all:' > "$tree/Makefile"
touch "$tree/Module.symvers" "$tree/mm/slub.c" "$tree/mm/slab.h" "$tree/drivers/net/a.h"
for c in MODULES KPROBES BLK_DEV_INITRD DEVTMPFS TMPFS SERIAL_8250_CONSOLE VIRTIO_PCI \
	VIRTIO_BLK VIRTIO_CONSOLE EXT4_FS; do
	echo "CONFIG_$c=y"
done > "$tree/.config"

scripts/kernels add mine "$tree" > "$T/out" 2>&1
check $? "the tree in which it was built is enough"
grep -qx 'mine: Linux 4.4.0-mine, with the root of 5.10, its module built by gcc -fno-pie' "$T/out"
check $? "it says what it found out"
dir=$MEMTAP_CACHE/brought/mine
cmp -s "$dir/vmlinuz" "$tree/arch/x86/boot/bzImage" && [ -s "$dir/initrd" ]
check $? "there is something to boot"
(cd "$dir/tree/usr/src/linux-4.4.0-mine" && [ -e .config ] && [ -e mm/slab.h ] &&
	[ -e Module.symvers ] && [ ! -e mm/slub.c ] && [ ! -e drivers ])
check $? "what a module is built with is kept, and no more"
test "$(readlink "$dir/tree/usr/lib/modules/4.4.0-mine/build")" = /usr/src/linux-4.4.0-mine
check $? "where builds look for it"
scripts/kernels | grep -q '^mine  *4.4.0-mine, brought'
check $? "it is in the list"
test "$(scripts/kernels find mine)" = "5.10 $dir 0 1"
check $? "others find it"
MEMTAP_CACHE_MAX=1 scripts/cache bound && head -c 1100M /dev/zero > "$dir/large" &&
	touch -d "9 days ago" "$dir" && MEMTAP_CACHE_MAX=1 scripts/cache bound && [ -e "$dir/done" ]
check $? "it stays when the cache is too large: nobody can make it again"
scripts/kernels remove mine && [ ! -e "$dir" ]
check $? "it can be removed"

# modules that tests load by name stay, all others go; it is clang's
for m in zram loop net9; do
	printf 'const char n[] __attribute__((section(".modinfo"))) = "name=%s";' $m |
		gcc -xc -c -o "$tree/drivers/$m.ko" -
done
echo CONFIG_CC_IS_CLANG=y >> "$tree/.config"
scripts/kernels add mine "$tree" > "$T/out" 2>&1
check $? "a kernel with modules, built by clang"
for where in guest tree; do
	(cd "$dir/$where/usr/lib/modules/4.4.0-mine" && find . -name '*.ko') | sort | xargs
done > "$T/modules"
test "$(sort -u "$T/modules")" = "./kernel/drivers/loop.ko ./kernel/drivers/zram.ko"
check $? "what tests load by name is kept, and nothing else"
modprobe -d "$dir/guest" -S 4.4.0-mine --show-depends zram > /dev/null
check $? "where modprobe finds it"
test "$(cat "$dir/cc")" = LLVM=1
check $? "clang builds its module"
scripts/kernels remove mine
scripts/kernels add mine --cc gcc-9 "$tree" > "$T/out" 2>&1 && test "$(cat "$dir/cc")" = gcc-9
check $? "unless another compiler is said"
scripts/kernels remove mine
is=$(scripts/kernels name-of "$tree" gcc-9)
test "$(cat "$MEMTAP_CACHE/brought/$is/cc")" = gcc-9
check $? "as for scripts/guest --kernel --cc"
test "$(scripts/kernels name-of "$tree")" != "$is"
check $? "which is another kernel without"
for k in "$MEMTAP_CACHE"/brought/dir-*; do
	scripts/kernels remove "${k##*/}"
done
rm "$tree"/drivers/*.ko
sed -i '/CLANG/d' "$tree/.config"

said 2 '--cc goes with --kernel' scripts/guest 6.1 --cc gcc -- true
check $? "scripts/guest: --cc without --kernel is refused"
said 2 'its root has not what tests needs' scripts/guest 6.1 --base --only module,tests -- true
check $? "--base has not all layers"
said 2 'its root has not what dkms needs' scripts/guest 6.1 --dkms --base -- true
check $? "nor what --dkms needs"
MEMTAP_ACCEL=fast said 2 'neither tcg nor kvm' scripts/guest 6.1 -- true
check $? "an unknown MEMTAP_ACCEL is refused"
MEMTAP_ACCEL=kvm said 2 'does not count instructions' scripts/guest 6.1 --icount -- true
check $? "and kvm where instructions are counted"
mkdir "$T/bin"
find /bin /sbin /usr/bin /usr/sbin -maxdepth 1 ! -type d ! -name 'qemu-system-*' ! -name mke2fs \
	-exec cp -s {} "$T/bin/" \; 2>/dev/null
PATH=$T/bin said 1 'not found: qemu-system-x86_64, mke2fs; .scripts/setup guest. installs' \
	scripts/guest 6.1 -- true
check $? "programs that this machine lacks are named"

sed -i '/EXT4\|8250/d' "$tree/.config"
echo CONFIG_EXT4_FS=m >> "$tree/.config"
lacks='a serial console \(CONFIG_SERIAL_8250_CONSOLE\), ext4 \(CONFIG_EXT4_FS\), a module that is'
said 1 "mine \(4\.4\.0-mine\) cannot be a guest without $lacks not among the files" \
	scripts/kernels add mine "$tree"
check $? "what it lacks is named in one sentence"
rm "$tree/include/generated/utsrelease.h"
said 1 'what modules for it are built with is not there' scripts/kernels add mine "$tree"
check $? "so are headers that are not there"
rm "$tree/arch/x86/boot/bzImage"
said 1 'there is no vmlinuz or bzImage in it' scripts/kernels add mine "$tree"
check $? "and the kernel itself"
said 1 'no vmlinuz' scripts/guest --kernel "$tree" -- true
check $? "scripts/guest says the same"
said 2 'is a kernel of this project' scripts/kernels add 6.1 "$tree"
check $? "a name that is taken is refused"
said 2 'root is one of' scripts/kernels add mine --root 9.9 "$tree"
check $? "so is a root that there is not"
said 1 'neither a directory nor' scripts/kernels add mine "$tree/Makefile"
check $? "and a file that is no package"
test -z "$(find "$MEMTAP_CACHE/brought" -mindepth 1 ! -name .lock)"
check $? "nothing is left of what was refused"

# a kernel as boot loaders get it: its packed form behind one sector of setup
head -c 300000 /dev/urandom > "$T/plain"
zstd -qc "$T/plain" > "$T/packed"
printf 'CONFIG_PVH=y\n' > "$T/config"
perl -e '
	my ($image, $size) = (do { local (@ARGV, $/) = $ARGV[0]; <> }, -s $ARGV[1]);
	my $head = "\0" x 1024;
	substr($head, 0x1f1, 1) = "\1";
	substr($head, 0x202, 4) = "HdrS";
	substr($head, 0x248, 8) = pack("VV", 16, length($image) + 4);
	print $head, "\0" x 16, $image, pack("V", $size);
' "$T/packed" "$T/plain" > "$T/vmlinuz"
scripts/vmlinux "$T/vmlinuz" "$T/config" "$T/vmlinux" && cmp -s "$T/vmlinux" "$T/plain"
check $? "a packed kernel is unpacked for guests"
rm -f "$T/vmlinux"
head -c 200000 "$T/vmlinuz" > "$T/short"
! scripts/vmlinux "$T/short" "$T/config" "$T/vmlinux" 2> "$T/said" && [ ! -s "$T/said" ]
check $? "one that was cut is not"
echo '# CONFIG_PVH is not set' > "$T/config"
! scripts/vmlinux "$T/vmlinuz" "$T/config" "$T/vmlinux" 2> "$T/said" && [ ! -s "$T/said" ]
check $? "nor one that can only unpack itself"
[ -z "$(find "$T" -name 'vmlinux*' ! -name vmlinuz)" ]
check $? "and nothing is left of it"
checked
