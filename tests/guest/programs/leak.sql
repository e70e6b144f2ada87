-- SPDX-License-Identifier: GPL-2.0-or-later
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
	INSERT INTO t SELECT i, hex(i * 7919) || 'text' FROM n;
CREATE INDEX u ON t (b);
SELECT count(*), max(b) FROM t WHERE b LIKE '3%';
SELECT group_concat(b) FROM (SELECT b FROM t ORDER BY b DESC LIMIT 5);
