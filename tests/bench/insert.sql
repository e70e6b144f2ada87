-- SPDX-License-Identifier: GPL-2.0-or-later
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO t SELECT i, 'row ' || i, i * 0.5 FROM n;
