# SPDX-License-Identifier: GPL-2.0-or-later
import json, re, threading
words = ["%x" % (i * 7919 % 10007) for i in range(200)]
text = json.dumps({"words": words})
found = re.findall(r"[a-f]{2,}", text)
t = threading.Thread(target=lambda: found.sort())
t.start()
t.join()
print(len(found), len(json.loads(text)["words"]))
