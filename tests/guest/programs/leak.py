# SPDX-License-Identifier: GPL-2.0-or-later
import json, os, re, sys, threading, time
# Whoever has the interpreter keeps it until it waits: else start() allocates a lock
# to wait for the thread, or finds it started, as it happens.
sys.setswitchinterval(1000)
words = ["%x" % (i * 7919 % 10007) for i in range(200)]
text = json.dumps({"words": words})
found = re.findall(r"[a-f]{2,}", text)
t = threading.Thread(target=lambda: found.sort())
t.start()
t.join()
# it frees its own state after it was joined
while os.stat("/proc/self/task").st_nlink > 3:
    time.sleep(0.01)
print(len(found), len(json.loads(text)["words"]))
