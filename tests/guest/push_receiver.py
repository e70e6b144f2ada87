#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# push_receiver.py DIR [CERT KEY]: a receiver of profiles, for tests of `memtap push`; at PORT.
#
# Takes POSTs, as Pyroscope's /ingest has them and of plain pprof.  DIR/port has its port.
# DIR/mode says what it does from then on: "ok", "dies" (the connection, in the middle), "slow"
# (answers after 2 s), "never" (does not answer), or a status, with Retry-After: "429 7".  Of each
# message it writes a line of JSON to DIR/log, and what is wrong with it as "error".
import email.parser
import gzip
import http.server
import json
import os
import ssl
import sys
import time
import urllib.parse

# profile.proto of github.com/google/pprof: field: name, kind ([] is repeated, v is a varint)
PROFILE = {1: ("sample_type", ["ValueType"]), 2: ("sample", ["Sample"]),
           3: ("mapping", ["Mapping"]), 4: ("location", ["Location"]),
           5: ("function", ["Function"]), 6: ("string_table", ["s"]), 7: ("drop_frames", "v"),
           8: ("keep_frames", "v"), 9: ("time_nanos", "v"), 10: ("duration_nanos", "v"),
           11: ("period_type", "ValueType"), 12: ("period", "v"), 13: ("comment", ["v"]),
           14: ("default_sample_type", "v"), 15: ("doc_url", "v")}
KINDS = {
    "Profile": PROFILE,
    "ValueType": {1: ("type", "v"), 2: ("unit", "v")},
    "Sample": {1: ("location_id", ["v"]), 2: ("value", ["v"]), 3: ("label", ["Label"])},
    "Label": {1: ("key", "v"), 2: ("str", "v"), 3: ("num", "v"), 4: ("num_unit", "v")},
    "Mapping": {1: ("id", "v"), 2: ("memory_start", "v"), 3: ("memory_limit", "v"),
                4: ("file_offset", "v"), 5: ("filename", "v"), 6: ("build_id", "v"),
                7: ("has_functions", "v"), 8: ("has_filenames", "v"),
                9: ("has_line_numbers", "v"), 10: ("has_inline_frames", "v")},
    "Location": {1: ("id", "v"), 2: ("mapping_id", "v"), 3: ("address", "v"),
                 4: ("line", ["Line"]), 5: ("is_folded", "v")},
    "Line": {1: ("function_id", "v"), 2: ("line", "v"), 3: ("column", "v")},
    "Function": {1: ("id", "v"), 2: ("name", "v"), 3: ("system_name", "v"),
                 4: ("filename", "v"), 5: ("start_line", "v")},
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        assert shift <= 70, "a varint is too long"
        if byte < 0x80:
            value &= (1 << 64) - 1
            return (value - (1 << 64) if value >> 63 else value), at


def decode(data, kind):
    fields = KINDS[kind]
    out = {name: [] for name, what in fields.values() if isinstance(what, list)}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        assert key >> 3 in fields, f"{kind} has no field {key >> 3}"
        name, what = fields[key >> 3]
        many = isinstance(what, list)
        what = what[0] if many else what
        if key & 7 == 0:
            assert what == "v", f"{kind}.{name} is no number"
            value, at = varint(data, at)
            values = [value]
        else:
            assert key & 7 == 2, f"{kind}.{name} has wire type {key & 7}"
            length, at = varint(data, at)
            part = data[at:at + length]
            assert len(part) == length, f"{kind}.{name} is cut short"
            at += length
            if what == "v":
                assert many, f"{kind}.{name} is packed"
                values, i = [], 0
                while i < len(part):
                    value, i = varint(part, i)
                    values.append(value)
            else:
                values = [part.decode() if what == "s" else decode(part, what)]
        if many:
            out[name] += values
        else:
            out[name] = values[0]
    return out


def check(raw):
    """The sums of a profile, all of whose references must be right."""
    p = decode(gzip.decompress(raw), "Profile")
    strings = p["string_table"]
    assert strings and strings[0] == "", "the first string is not empty"
    ids = {kind: {x["id"] for x in p[kind]} for kind in ("mapping", "location", "function")}
    for kind, all_ids in ids.items():
        assert len(all_ids) == len(p[kind]) and 0 not in all_ids, f"ids of {kind}"
    for f in p["function"]:
        assert strings[f["name"]], "a function without a name"
        strings[f.get("filename", 0)]
    for loc in p["location"]:
        assert loc.get("mapping_id", 0) in ids["mapping"] | {0}
        assert loc["line"] and all(x["function_id"] in ids["function"] for x in loc["line"])
    types = [(strings[t["type"]], strings[t["unit"]]) for t in p["sample_type"]]
    assert types and len(set(types)) == len(types), types
    sums, labels, by = {t: 0 for t, _ in types}, set(), {}
    function = {f["id"]: strings[f["name"]] for f in p["function"]}
    frames = {x["id"]: {function[y["function_id"]] for y in x["line"]} for x in p["location"]}
    for s in p["sample"]:
        assert len(s["value"]) == len(types), "values of a sample"
        assert s["location_id"] and all(i in ids["location"] for i in s["location_id"])
        for (t, _), v in zip(types, s["value"]):
            assert v >= 0, "a value below 0"
            sums[t] += v
        for name in set().union(*(frames[i] for i in s["location_id"])):
            for (t, _), v in zip(types, s["value"]):
                by.setdefault(name, {}).setdefault(t, 0)
                by[name][t] += v
        labels.add(tuple(sorted((strings[x["key"]], strings[x["str"]] if "str" in x else
                                 x["num"]) for x in s["label"])))
    assert p["sample"], "no samples"
    assert strings[p["default_sample_type"]] in sums, "default_sample_type"
    assert p["duration_nanos"] > 0 and p["time_nanos"] > 0 and p["period"] > 0
    return {
        "types": types, "sums": sums, "samples": len(p["sample"]), "labels": sorted(labels),
        "seconds": p["duration_nanos"] / 1e9, "time": p["time_nanos"] / 1e9,
        "period": [strings[p["period_type"]["type"]], p["period"]],
        "comments": [strings[c] for c in p["comment"]],
        "by": by,
    }


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def message(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=True)) if url.query else {}
        m = {"path": url.path, "query": query, "bytes": len(body),
             "auth": self.headers.get("Authorization", ""), "at": time.time(),
             "agent": self.headers["User-Agent"]}
        if "multipart/form-data" in self.headers["Content-Type"]:
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            form = {x.get_param("name", header="content-disposition"):
                    x.get_payload(decode=True)
                    for x in email.parser.BytesParser().parsebytes(head + body).get_payload()}
            assert set(form) == {"profile", "sample_type_config"}, list(form)
            config = json.loads(form["sample_type_config"])
            body = form["profile"]
        else:
            config = None
        m.update(check(body))
        if config is not None:
            assert set(config) == {t for t, _ in m["types"]}, "sample_type_config"
            m["config"] = config
            assert int(query["from"]) < int(query["until"]), query
            assert abs(int(query["until"]) - m["time"]) <= 1, query
        return m

    def do_POST(self):
        mode = open(os.path.join(DIR, "mode")).read().split()
        if mode[0] == "dies":
            self.rfile.read(10)
            self.connection.close()
            self.close_connection = True
            return
        try:
            m = self.message()
        except Exception as e:      # whatever is wrong with it
            m = {"error": f"{type(e).__name__}: {e}"}
        m["mode"] = mode[0]
        with open(os.path.join(DIR, "log"), "a") as log:
            log.write(json.dumps(m) + "\n")
        if mode[0] == "never":
            time.sleep(1000)
        if mode[0] == "slow":
            time.sleep(2)
        status = int(mode[0]) if mode[0].isdigit() else 200
        text = b"" if status == 200 else b"the receiver says no\r\nand more\r\n"
        self.send_response(status)
        if len(mode) > 1:
            self.send_header("Retry-After", mode[1])
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


DIR = sys.argv[1]
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 0))), Receiver)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(DIR, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(DIR, "port.new"), os.path.join(DIR, "port"))
server.serve_forever()
