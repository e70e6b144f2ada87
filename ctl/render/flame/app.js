/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the flame graph of a page that memtap wrote: see ctl/render/flame.c. */
(function () {
	"use strict";

	const MIN_WIDTH = 0.3;		/* pixels: narrower frames are not laid out */
	const MAX_FRAMES = 3000;	/* drawn at a time, or only wider ones are */
	const MORE = 100;		/* rows of a table */
	const MAX_NAME = 400;		/* letters of a label */
	const data = JSON.parse(document.getElementById("data").textContent);
	/* of two reports each node has "w", too: what it was in the former */
	const diff = "w" in data.tree;
	const times = data.spans || [];	/* where parts of the time begin, and the last one ends */
	const parts = Math.max(times.length - 1, 0);
	const by_id = (id) => document.getElementById(id);
	const nodes = [];		/* parents before their children */
	/* what is shown */
	let nr = 0, former = false, inverted = false, focus = data.tree, chosen = null;
	let order = { by: "self", down: true }, limit = MORE, rows = [];
	let any_merged = false;
	let total = 0, first = 0, behind = parts;	/* parts of the time that are shown */

	/* A name, or its number. */
	function name_of(name) {
		return typeof name === "number" ? data.names[name] : name;
	}

	/* Nodes know their parents, all their values, and how many there are below. */
	function prepare() {
		const todo = [data.tree];

		while (todo.length) {
			const node = todo.pop();

			node.n = name_of(node.n);
			node.o = name_of(node.o);
			node.all = node.is = [node.v].concat(node.m || []);
			node.was = diff ? [node.w].concat(node.x || []) : null;
			node.key = node.l === "group" || node.l === "rest" ? null :
				node.n + "\0" + (node.o || "");
			node.count = 1;
			nodes.push(node);
			for (const child of node.c || []) {
				child.parent = node;
				todo.push(child);
			}
		}
		for (let i = nodes.length; i-- > 1;)
			nodes[i].parent.count += nodes[i].count;
	}

	/* Of the parts of the time that are shown, what nodes have: all if those are all. */
	function in_range() {
		const whole = first === 0 && behind === parts;

		if (focus.merged)
			focus = focus.parent;
		for (const node of nodes)
			node.is = whole ? node.all : node.all.map(() => 0);
		for (let i = nodes.length; !whole && i--;) {
			const node = nodes[i];

			add_parts(node, node.is);
			if (node.parent)
				node.is.forEach((v, k) => { node.parent.is[k] += v; });
		}
	}

	/* How a value follows from the columns that a part of the time has. */
	function of_parts(node, v, from, to) {
		let sum = 0;

		for (const [part, ...columns] of node.t || [])
			if (part >= from && part < to)
				sum += columns[v.plus] - (v.minus < 0 ? 0 : columns[v.minus]);
		return sum;
	}

	/* What ends at a node and shrank has no width. */
	function add_parts(node, sums) {
		data.values.forEach((v, k) => {
			const own = v.how === "fixed" ?
				(node.c || []).reduce((left, c) => left - c.all[k], node.all[k]) :
				of_parts(node, v, v.how === "level" ? 0 : first, behind);

			sums[k] += Math.max(own, 0);
		});
	}

	/* What the time line is of: what is known at the end alone has none of its own. */
	function line_value() {
		const now = data.values[nr];

		return now.how !== "fixed" ? now :
			data.values.find((v) => v.how === "level" && v.unit === now.unit);
	}

	/* The value of a node in each part. */
	function series(node, v, sums) {
		for (const [part, ...columns] of node.t || [])
			sums[part] += columns[v.plus] - (v.minus < 0 ? 0 : columns[v.minus]);
		for (const child of node.c || [])
			series(child, v, sums);
		return sums;
	}

	function size(node) {
		return former ? node.was[nr] : node.is[nr];
	}

	function other(node) {
		return former ? node.is[nr] : node.was[nr];
	}

	function own(node) {
		return (node.c || []).reduce((left, child) => left - size(child), size(node));
	}

	function scaled(v, step, units) {
		let i = 0;

		while (v >= step && i + 1 < units.length) {
			v /= step;
			i++;
		}
		return (i ? v.toFixed(1) : v.toLocaleString("en-US")) + " " + units[i];
	}

	function bytes(v) {
		return scaled(v, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
	}

	function value(v) {
		const n = v.toLocaleString("en-US");

		switch (data.values[nr].unit) {
		case "bytes":
			return v < 1024 ? n + " bytes" : bytes(v) + " (" + n + " bytes)";
		case "pages":
			return n + " pages (" + bytes(v * data.page_size) + ")";
		case "ns":
			return scaled(v, 1000, ["ns", "us", "ms", "s"]);
		}
		return n + " " + data.values[nr].unit;
	}

	function share(v) {
		return total ? (100 * v / total).toFixed(2) + " %" : "";
	}

	function change(node) {
		const by = node.is[nr] - node.was[nr];

		return (by < 0 ? "-" : "+") + value(Math.abs(by)) + ": " + value(node.was[nr]) +
			" before, " + value(node.is[nr]) + " now";
	}

	/* C++ has names of 50,000 letters: as much of one as a label has room for. */
	function short(name) {
		return name.length <= MAX_NAME ? name : name.slice(0, MAX_NAME - 60) + " ... " +
			name.slice(-40) + " (" + name.length.toLocaleString("en-US") + " letters)";
	}

	function label(node) {
		const object = node.o ? "\n" + node.o : "";

		return short(node.n) + object + "\n" +
			(diff ? change(node) : value(size(node)) + ", " + share(size(node)));
	}

	/* Between 0 and 1, the same for the same name everywhere. */
	function hash(name) {
		let h = 2166136261;

		for (let i = 0; i < name.length; i++)
			h = Math.imul(h ^ name.charCodeAt(i), 16777619);
		return ((h >>> 8) & 0xffff) / 0xffff;
	}

	function rgb(r, g, b) {
		return `rgb(${Math.round(r)},${Math.round(g)},${Math.round(b)})`;
	}

	function dark() {
		return document.documentElement.dataset.theme === "dark";
	}

	/* Red is more, blue is less, as deep as the part of it that changed. */
	function change_color(node) {
		const is = node.is[nr], was = node.was[nr], most = Math.max(is, was);
		const part = most ? (is - was) / most : 0;
		const deep = Math.sqrt(Math.abs(part));
		const from = dark() ? [168, 178, 172] : [238, 241, 239];
		const to = part > 0 ? [224, 80, 60] : [74, 127, 214];
		const mixed = (i) => from[i] + (to[i] - from[i]) * deep;

		return rgb(mixed(0), mixed(1), mixed(2));
	}

	function color(node) {
		const h = hash(node.n), g = hash(node.n + "#");

		if (node.hit || (node.merged && node.c.some((child) => child.hit || child.below)))
			return "#e05be0";
		if (diff)
			return change_color(node);
		switch (node.l) {
		case "kernel":
			return rgb(60 + 50 * h, 160 + 40 * g, 205 + 35 * h);
		case "inlined":
			return rgb(130 + 30 * h, 212 + 28 * g, 165 + 40 * h);
		case "mark":
		case "rest":
			return "#c9c9c9";
		case "group":
			return "#d7eadf";
		}
		return rgb(60 * h, 190 + 50 * g, 60 + 120 * h);
	}

	/*
	 * The graph.  The drawing library gets only what is wide enough to be seen, of what is
	 * zoomed to: it walks all that it has for each picture.
	 */
	function width() {
		return by_id("chart").clientWidth - 18;
	}

	const tip = flamegraph.tooltip.defaultFlamegraphTooltip().text((d) => label(d.data.of));
	const chart = flamegraph.default()
		.cellHeight(19)
		.minFrameSize(MIN_WIDTH)
		.transitionDuration(0)
		.resetHeightOnZoom(true)
		.selfValue(false)
		.tooltip(tip)
		.setLabelHandler((d) => label(d.data.of).replace(/\n/g, "  "))
		.setColorMapper((d) => color(d.data.of))
		.setDetailsElement(by_id("details"));

	function by_size(a, b) {
		return size(b) - size(a) || (a.n < b.n ? -1 : 1);
	}

	/* The narrower ones that a frame calls, as one; @wide: the others. */
	function merged(node, wide, least) {
		const rest = wide.length < (node.c || []).length ?
			node.c.filter((child) => size(child) && size(child) <= least) : [];
		const sum = (of) => rest.reduce((v, child) => v + of(child), 0);
		const values = (of) => data.values.map((_, k) => sum((child) => of(child)[k]));
		const count = sum((child) => child.count);

		if (sum(size) <= least)
			return null;
		return {
			n: `(${count.toLocaleString("en-US")} ` +
				(count > 1 ? "narrower frames)" : "narrower frame)"),
			l: "rest", key: null, merged: true, parent: node, c: rest,
			is: values((child) => child.is),
			was: diff ? values((child) => child.was) : null,
		};
	}

	function laid_out(node, least) {
		const wide = (node.c || []).filter((child) => size(child) && size(child) > least);
		const rest = merged(node, wide, least);
		const below = wide.sort(by_size).map((child) => laid_out(child, least));

		if (rest) {
			below.push({ n: rest.n, l: rest.l, v: size(rest), of: rest, c: [] });
			any_merged = true;
		}
		return { n: node.n, l: node.l, v: size(node), of: node, c: below };
	}

	function wider(node, least) {
		let count = 1;

		for (const child of node.c || [])
			if (size(child) && size(child) > least)
				count += wider(child, least);
		return count;
	}

	/* The narrowest that is drawn, in pixels, of a picture that is so wide. */
	function narrowest(wide) {
		let pixels = MIN_WIDTH;

		while (pixels < 10 && wider(focus, size(focus) * pixels / wide) > MAX_FRAMES)
			pixels *= 1.5;
		return pixels;
	}

	/* What the picture leaves out, and what the page does. */
	function tell_narrow(pixels) {
		const rest = nodes.filter((node) => node.l === "rest" && size(node));
		const sum = rest.reduce((v, node) => v + size(node), 0);

		by_id("narrow").textContent = !any_merged ? "" : "frames narrower than " +
			pixels.toFixed(1) + " pixels are merged into (narrower frames): " +
			"they are in the table, a search finds them, and a click shows " +
			"them";
		by_id("missing").textContent = !sum ? "" : value(sum) + ", " + share(sum) +
			", is in narrower frames whose names are not in this page: totals of " +
			"functions, and what a search finds, are without it";
	}

	/* With those who called it, as wide as it is. */
	function picture(wide) {
		const pixels = narrowest(wide);
		let top;

		any_merged = false;
		top = laid_out(focus, size(focus) * pixels / wide);
		tell_narrow(pixels);

		for (let node = focus.parent; node; node = node.parent)
			top = { n: node.n, l: node.l, v: top.v, of: node, fade: true, c: [top] };
		return top;
	}

	/* The time line, of what is zoomed to: what there was, or how much came by the second. */
	function seconds(s) {
		return s.toFixed(s < 10 ? 2 : 1) + " s";
	}

	function across(s, wide) {
		return wide * (s - times[0]) / (times[parts] - times[0]);
	}

	function draw_line(wide) {
		const v = line_value(), level = v.how === "level", high = 60;
		const sums = series(focus, v, new Array(parts).fill(0));

		for (let i = 1; level && i < parts; i++)
			sums[i] += sums[i - 1];
		const rates = sums.map((n, i) => Math.max(n, 0) /
			(level ? 1 : times[i + 1] - times[i]));
		const most = Math.max(...rates);
		const svg = d3.select("#line").attr("viewBox", `0 0 ${wide} ${high}`)
			.attr("width", wide).attr("height", high);

		svg.selectAll("*").remove();
		rates.forEach((rate, i) => {
			const x = across(times[i], wide), to = across(times[i + 1], wide);
			const height = most ? Math.max(rate / most * (high - 4), rate ? 1 : 0) : 0;

			svg.append("rect").attr("x", x).attr("width", Math.max(to - x - 1, 0.5))
				.attr("y", high - height).attr("height", height)
				.attr("class", i >= first && i < behind ? "in" : "out")
				.append("title").text((level ? "" : seconds(times[i]) + " .. ") +
					seconds(times[i + 1]) + ": " + (sums[i] < 0 ? "-" : "") +
					value(Math.abs(sums[i])));
		});
		svg.append("rect").attr("class", "range").attr("y", 0.5).attr("height", high - 1)
			.attr("x", across(times[first], wide) + 0.5)
			.attr("width", across(times[behind] - times[first] + times[0], wide) - 1);
		by_id("from").value = first;
		by_id("to").value = behind;
		by_id("from").setAttribute("aria-valuetext", seconds(times[first]));
		by_id("to").setAttribute("aria-valuetext", seconds(times[behind]));
		by_id("range").textContent = first === 0 && behind === parts ?
			"the whole time, " + seconds(times[parts] - times[0]) :
			(data.values[nr].how === "level" ? "as it was at " :
				seconds(times[first]) + " .. ") + seconds(times[behind]) +
			(data.values[nr].how === "fixed" ? "; of the end, whatever is chosen" : "");
	}

	function set_range(a, b) {
		a = Math.min(Math.max(a, 0), parts - 1);
		b = Math.min(Math.max(b, a + 1), parts);
		if (a === first && b === behind)
			return;
		first = a;
		behind = b;
		in_range();
		show();
	}

	function part_at(e) {
		const box = by_id("line").getBoundingClientRect();
		const s = times[0] + (times[parts] - times[0]) * (e.clientX - box.left) / box.width;
		const at = times.findIndex((end, i) => i && s < end);

		return s < times[0] ? 0 : at < 0 ? parts - 1 : at - 1;
	}

	function listen_line() {
		const line = by_id("line"), from = by_id("from"), to = by_id("to");
		let start = null, at = null;	/* parts; @at: is to be drawn */

		/* a large page takes longer than the hand: only the last one of a picture's time */
		function follow() {
			if (start !== null && at !== null)
				set_range(Math.min(start, at), Math.max(start, at) + 1);
			at = null;
		}
		for (const input of [from, to])
			input.max = parts;
		line.addEventListener("pointerdown", (e) => {
			start = part_at(e);
			set_range(start, start + 1);
		});
		/* also beside it */
		document.addEventListener("pointermove", (e) => {
			if (start === null)
				return;
			if (at === null)
				requestAnimationFrame(follow);
			at = part_at(e);
		});
		for (const what of ["pointerup", "pointercancel"])
			document.addEventListener(what, () => { follow(); start = null; });
		/* the other end is pushed along */
		from.addEventListener("input", () => set_range(+from.value,
			Math.max(behind, +from.value + 1)));
		to.addEventListener("input", () => set_range(Math.min(first,
			Math.max(+to.value - 1, 0)), +to.value));
		by_id("whole").addEventListener("click", () => set_range(0, parts));
	}

	function frames() {
		return d3.select("#chart").selectAll("g.frame");
	}

	function draw() {
		const keep = document.activeElement.closest("#chart") !== null;
		const wide = width();		/* asked for once: it makes the browser lay out */

		d3.selectAll("#chart > *, .d3-flame-graph-tip").remove();
		by_id("details").textContent = "";
		/* on paper nobody sees what was selected */
		by_id("printed").textContent = data.values[nr].name;
		if (!size(focus))
			focus = data.tree;
		total = size(data.tree);
		if (parts)
			draw_line(wide);
		if (!total) {
			by_id("chart").textContent = "Nothing was counted that a graph could show.";
			return;
		}
		chart.width(wide).inverted(inverted);
		d3.select("#chart").datum(picture(wide)).call(chart);
		/* at once: the library would let them grow */
		frames().select("rect").interrupt().attr("width", (d) => (d.x1 - d.x0) * wide);
		frames().select("div").interrupt().text((d) => short(d.data.n));
		const svg = d3.select("#chart svg");
		svg.attr("viewBox", `0 0 ${svg.attr("width")} ${svg.attr("height")}`)
			.attr("role", "tree").attr("aria-label", "flame graph of " +
			data.values[nr].name + ": arrows move, Enter zooms, Esc zooms out");
		frames().attr("role", "treeitem").attr("tabindex", -1)
			.attr("aria-level", (d) => d.depth + 1)
			.attr("aria-label", (d) => label(d.data.of).replace(/\n/g, ", "))
			.on("click", (e, d) => zoom(d.data.of))
			.on("focus", (e, d) => { by_id("details").textContent =
				label(d.data.of).replace(/\n/g, "  "); });
		to_frame(focus, keep);
	}

	/* One frame is in the order of Tab: the one that was last looked at. */
	function to_frame(node, now) {
		frames().attr("tabindex", (d) => d.data.of === node ? 0 : -1);
		const at = frames().filter((d) => d.data.of === node).node();

		if (at && now)
			at.focus();
	}

	function zoom(node) {
		focus = node;
		if (node.key)
			choose(node.key);
		draw();
	}

	/* What is beside it, in the picture. */
	function neighbour(d, by) {
		const all = d.parent ? d.parent.children : [d];

		return all[all.indexOf(d) + by] || null;
	}

	function on_frame_key(e) {
		const at = e.target.closest("g.frame"), d = at && at.__data__;
		const outer = d && d.parent, inner = d && d.children && d.children[0];
		let to = null;

		if (!d)
			return;
		switch (e.key) {
		case "Enter": case " ": zoom(d.data.of); break;
		case "ArrowUp": to = inverted ? outer : inner; break;
		case "ArrowDown": to = inverted ? inner : outer; break;
		case "ArrowLeft": to = neighbour(d, -1); break;
		case "ArrowRight": to = neighbour(d, 1); break;
		case "Home": to = frames().data()[0]; break;
		default: return;
		}
		e.preventDefault();
		if (to)
			to_frame(to.data.of, true);
	}

	function on_key(e) {
		const typing = e.target.matches("input[type=search], select");

		if (e.ctrlKey || e.altKey || e.metaKey)
			return;
		if (e.key === "/" && !typing) {
			e.preventDefault();
			by_id("search").focus();
		} else if (e.key === "Escape" && e.target === by_id("search")) {
			clear();
			e.target.blur();
		} else if (e.key === "Escape" && focus.parent) {
			focus = focus.parent;
			draw();
		} else if (e.key === "Escape") {
			choose(null);
		}
	}

	/* Search: frames are coloured, also those that are too narrow to be seen. */
	function matcher(term) {
		try {
			return new RegExp(term);
		} catch (e) {
			return new RegExp(term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		}
	}

	function search() {
		const term = by_id("search").value, re = term ? matcher(term) : null;
		let sum = 0, any = false;

		for (const node of nodes) {
			node.below = false;
			node.hit = re !== null && node.l !== "rest" && re.test(node.n) &&
				size(node) > 0;
			node.inside = node.parent ? node.parent.hit || node.parent.inside : false;
			if (node.hit && !node.inside)
				sum += size(node);
			any = any || node.hit;
		}
		for (let i = nodes.length; i-- > 1;)
			if (nodes[i].hit || nodes[i].below)
				nodes[i].parent.below = true;
		by_id("found").textContent = !re ? "" :
			any ? "found: " + value(sum) + ", " + share(sum) : "found: nothing";
		frames().select("rect").attr("fill", (d) => color(d.data.of));
	}

	function clear() {
		by_id("search").value = "";
		search();
	}

	/* Tables.  A row is { name, key, total, self, other }, other: total in the other of two */
	function element(name, text, cls) {
		const e = document.createElement(name);

		if (text !== undefined)
			e.textContent = text;
		if (cls)
			e.className = cls;
		return e;
	}

	function button(text, action) {
		const b = element("button", text);

		b.type = "button";
		b.addEventListener("click", action);
		return b;
	}

	function name_cell(row) {
		const td = element("td");

		/* what is longer is scrolled in its place */
		const box = td.appendChild(element("div", undefined, row.name.length > MAX_NAME ?
			"long" : ""));

		if (row.key)
			box.append(button(row.name, () => {
				choose(row.key);
				by_id("one").scrollIntoView({ block: "nearest" });
			}));
		else
			box.textContent = row.name;
		return td;
	}

	/* By what it is more now. */
	function grew(row) {
		return former ? row.other - row.total : row.total - row.other;
	}

	function change_cell(row) {
		const by = grew(row);

		return element("td", (by < 0 ? "-" : "+") + value(Math.abs(by)),
			"n " + (by < 0 ? "less" : by ? "more" : ""));
	}

	const columns = {
		total: { title: "total", of: (r) => r.total,
			cell: (r) => element("td", value(r.total), "n") },
		share: { title: "share", of: (r) => r.total,
			cell: (r) => element("td", share(r.total), "n") },
		self: { title: "self", of: (r) => r.self,
			cell: (r) => element("td", value(r.self), "n") },
		change: { title: "change", of: grew, cell: change_cell },
		name: { title: "name", of: (r) => r.name, cell: name_cell },
	};

	function fill(table, rows, names, head) {
		const body = element("tbody");

		for (const row of rows) {
			const tr = element("tr");

			tr.append(...names.map((name) => columns[name].cell(row)));
			body.append(tr);
		}
		table.replaceChildren(head, body);
	}

	/* Functions, each once in a stack that has it several times. */
	function functions() {
		const all = new Map();

		for (const node of nodes) {
			if (!node.key)
				continue;
			let row = all.get(node.key);

			if (!row) {
				row = { name: node.n, key: node.key, total: 0, self: 0, other: 0 };
				all.set(node.key, row);
			}
			row.self += own(node);
			if (within(node, node.key))
				continue;
			row.total += size(node);
			row.other += diff ? other(node) : 0;
		}
		return [...all.values()].filter((r) => r.total || r.other);
	}

	function within(node, key) {
		for (node = node.parent; node; node = node.parent)
			if (node.key === key)
				return true;
		return false;
	}

	/* Where stacks end, innermost frame first. */
	function stacks() {
		const all = [];

		for (const node of nodes) {
			const left = own(node), names = [];
			let before = 0;

			if (diff)
				before = (node.c || []).reduce((v, c) => v - other(c), other(node));
			if (left <= 0 && before <= 0)
				continue;
			for (let n = node; n.parent; n = n.parent)
				names.push(n.n);
			all.push({ name: names.join(" < "), key: null, total: left, self: left,
				other: before });
		}
		return all;
	}

	function compare(a, b) {
		const by_size = order.by === "change" ? Math.abs : (v) => v;
		const of = (row) => by_size(columns[order.by].of(row)), x = of(a), y = of(b);
		const by = x < y ? -1 : x > y ? 1 : 0;

		return (order.down ? -by : by) || (a.name < b.name ? -1 : 1);
	}

	function sort_by(name, names) {
		order = { by: name, down: order.by === name ? !order.down : name !== "name" };
		show_rows();
		by_id("rows").querySelectorAll("th button")[names.indexOf(name)].focus();
	}

	function header(names) {
		const head = element("thead"), tr = element("tr");
		const arrow = order.down ? " \u25be" : " \u25b4";

		for (const name of names) {
			const th = element("th", undefined, name === "name" ? "" : "n");
			const here = order.by === name;

			th.scope = "col";
			th.setAttribute("aria-sort", !here ? "none" :
				order.down ? "descending" : "ascending");
			th.append(button(columns[name].title + (here ? arrow : ""),
				() => sort_by(name, names)));
			tr.append(th);
		}
		head.append(tr);
		return head;
	}

	function show_rows() {
		const stacks_too = by_id("rows-of").value === "stacks";
		const names = (stacks_too ? ["total", "share"] : ["total", "share", "self"])
			.concat(diff ? ["change"] : [], ["name"]);

		if (!names.includes(order.by))
			order.by = "total";
		rows.sort(compare);
		fill(by_id("rows"), rows.slice(0, limit), names, header(names));
		by_id("rows-shown").textContent =
			Math.min(limit, rows.length).toLocaleString("en-US") + " of " +
			rows.length.toLocaleString("en-US");
		by_id("rows-more").hidden = rows.length <= limit;
	}

	function make_rows() {
		rows = by_id("rows-of").value === "stacks" ? stacks() : functions();
		show_rows();
	}

	/* What flows into a function, and out of it: each edge once in a stack. */
	function add_to(map, node, name, v) {
		const key = node.key || name;
		const row = map.get(key) || { name: name, key: node.key, total: 0 };

		row.total += v;
		map.set(key, row);
	}

	function add_callees(map, node, key, seen) {
		for (const child of node.c || []) {
			let now = seen;

			if (node.key === key && child.key !== key && !seen.has(child.key)) {
				add_to(map, child, child.n, size(child));
				now = new Set(seen).add(child.key);
			}
			add_callees(map, child, key, now);
		}
	}

	/* Those for which there is no row. */
	function others(all) {
		const rest = all.slice(MORE - 1);

		return { name: `(${rest.length.toLocaleString("en-US")} others)`, key: null,
			total: rest.reduce((v, row) => v + row.total, 0) };
	}

	function edges(title, map) {
		const head = element("thead"), tr = element("tr");
		const all = [...map.values()].filter((r) => r.total);

		all.sort((a, b) => b.total - a.total);
		tr.append(element("th", "total", "n"), element("th", "share", "n"),
			element("th", title));
		head.append(tr);
		if (all.length > MORE)
			all.splice(MORE - 1, all.length, others(all));
		fill(by_id(title), all, ["total", "share", "name"], head);
	}

	function choose(key) {
		const callers = new Map(), callees = new Map();
		let sum = 0, self = 0, one = null;

		chosen = key;
		by_id("one").hidden = key === null;
		for (const node of key === null ? [] : nodes) {
			if (node.key !== key)
				continue;
			one = node;
			self += own(node);
			if (within(node, key))
				continue;
			sum += size(node);
			add_to(callers, node.parent, node.parent.n, size(node));
			add_callees(callees, node, key, new Set());
		}
		if (!one)
			return;
		by_id("one-name").textContent = one.n;
		by_id("one-value").textContent = (one.o ? one.o + ": " : "") + value(sum) + ", " +
			share(sum) + "; itself " + value(self);
		edges("callers", callers);
		edges("callees", callees);
	}

	function show() {
		draw();
		search();
		make_rows();
		choose(chosen);
	}

	function set_theme(name) {
		document.documentElement.dataset.theme = name;
		by_id("theme").setAttribute("aria-pressed", dark());
		frames().select("rect").attr("fill", (d) => color(d.data.of));
	}

	/*
	 * page.html#value=calls&search=malloc&function=main&theme=dark&upside=down&table=stacks
	 * &from=2&to=4: parts of the time
	 */
	function from_address() {
		const asked = new URLSearchParams(location.hash.slice(1));
		const at = data.values.findIndex((v) => v.name === asked.get("value"));
		const one = nodes.find((node) => node.key && node.n === asked.get("function"));

		nr = Math.max(at, 0);
		if (parts)
			set_range(+asked.get("from") || 0, +asked.get("to") || parts);
		by_id("value").selectedIndex = nr;
		by_id("search").value = asked.get("search") || "";
		inverted = by_id("inverted").checked = asked.get("upside") === "down";
		by_id("rows-of").value = asked.get("table") === "stacks" ? "stacks" : "functions";
		if (asked.has("theme"))
			set_theme(asked.get("theme") === "dark" ? "dark" : "light");
		if (one)
			zoom(one);
	}

	function listen() {
		const on = (id, what, action) => by_id(id).addEventListener(what, action);

		on("search", "input", search);
		on("clear", "click", clear);
		on("reset", "click", () => { focus = data.tree; draw(); });
		on("inverted", "change", (e) => { inverted = e.target.checked; draw(); });
		on("value", "change", (e) => { nr = e.target.selectedIndex; show(); });
		on("former", "change", (e) => { former = e.target.checked; show(); });
		on("theme", "click", () => set_theme(dark() ? "light" : "dark"));
		on("rows-of", "change", () => { limit = MORE; make_rows(); });
		on("rows-more", "click", () => { limit *= 10; show_rows(); });
		on("one-close", "click", () => choose(null));
		on("chart", "keydown", on_frame_key);
		document.addEventListener("keydown", on_key);
		window.addEventListener("resize", draw);
		window.addEventListener("hashchange", () => { from_address(); show(); });
	}

	prepare();
	by_id("title").textContent = document.title = data.title;
	by_id("subtitle").textContent = data.subtitle;
	by_id("foot").textContent = data.foot;
	by_id("value-label").hidden = data.values.length < 2;
	by_id("value").append(...data.values.map((v) => element("option", v.name)));
	if (diff) {
		by_id("former-label").hidden = by_id("key-diff").hidden = false;
		by_id("key").hidden = true;
		by_id("former").checked = former = size(data.tree) === 0;
		order.by = "change";
	}
	by_id("time").hidden = !parts;
	set_theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	total = size(data.tree);
	listen();
	if (parts)
		listen_line();
	from_address();
	show();
})();
