/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the flame graph of a page that memtap wrote: see ctl/render/flame.c. */
(function () {
	"use strict";

	const data = JSON.parse(document.getElementById("data").textContent);
	/* of two reports each node has "w", too: what it was in the former */
	const diff = "w" in data.tree;
	let total = data.tree.v;
	const by_id = (id) => document.getElementById(id);

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

		switch (data.unit) {
		case "bytes":
			return v < 1024 ? n + " bytes" : bytes(v) + " (" + n + " bytes)";
		case "pages":
			return n + " pages (" + bytes(v * data.page_size) + ")";
		case "ns":
			return scaled(v, 1000, ["ns", "us", "ms", "s"]);
		}
		return n + " " + data.unit;
	}

	function share(v) {
		return total ? (100 * v / total).toFixed(2) + " %" : "";
	}

	function change(d) {
		const by = d.is - d.w;

		return "\n" + (by < 0 ? "-" : "+") + value(Math.abs(by)) + ": " + value(d.w) +
			" before, " + value(d.is) + " now";
	}

	function label(d) {
		const v = d.data.v, object = d.data.o ? "\n" + d.data.o : "";

		return d.data.n + object + "\n" +
			(diff ? change(d.data).slice(1) : value(v) + ", " + share(v));
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

	/* Red is more, blue is less, as deep as the part of it that changed. */
	function change_color(d) {
		const most = Math.max(d.is, d.w), part = most ? (d.is - d.w) / most : 0;
		const deep = Math.sqrt(Math.abs(part));
		const to = part > 0 ? [224, 80, 60] : [74, 127, 214];
		const mixed = (from, i) => from + (to[i] - from) * deep;

		return rgb(mixed(238, 0), mixed(241, 1), mixed(239, 2));
	}

	function color(d) {
		const h = hash(d.data.n), g = hash(d.data.n + "#");

		if (d.highlight)
			return "#e05be0";
		if (diff)
			return change_color(d.data);
		switch (d.data.l) {
		case "kernel":
			return rgb(60 + 50 * h, 160 + 40 * g, 205 + 35 * h);
		case "inlined":
			return rgb(130 + 30 * h, 212 + 28 * g, 165 + 40 * h);
		case "mark":
			return "#c9c9c9";
		case "group":
			return "#d7eadf";
		}
		return rgb(60 * h, 190 + 50 * g, 60 + 120 * h);
	}

	function width() {
		return by_id("chart").clientWidth - 18;
	}

	const tip = flamegraph.tooltip.defaultFlamegraphTooltip().text(label);
	const chart = flamegraph.default()
		.width(width())
		.cellHeight(19)
		.minFrameSize(0.3)
		.transitionDuration(0)	/* the first picture is there at once */
		.selfValue(false)
		.sort((a, b) => b.data.v - a.data.v || (a.data.n < b.data.n ? -1 : 1))
		.tooltip(tip)
		.setLabelHandler((d) => label(d).replace(/\n/g, "  "))
		.setColorMapper(color)
		.setDetailsElement(by_id("details"));
	let ready = false;

	chart.setSearchHandler((results, sum) => {
		by_id("found").textContent = results.length ?
			"found: " + value(sum) + ", " + share(sum) : "found: nothing";
	});

	function escaped(term) {
		try {
			new RegExp(term);
			return term;
		} catch (e) {
			return term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
		}
	}

	function search() {
		const term = by_id("search").value;

		if (term) {
			chart.search(escaped(term));
		} else {
			chart.clear();
			by_id("found").textContent = "";
		}
	}

	by_id("title").textContent = document.title = data.title;
	by_id("subtitle").textContent = data.subtitle;
	by_id("foot").textContent = data.foot;
	by_id("search").addEventListener("input", search);
	by_id("clear").addEventListener("click", () => {
		by_id("search").value = "";
		search();
	});
	by_id("reset").addEventListener("click", () => chart.resetZoom());
	by_id("inverted").addEventListener("change", (e) => {
		chart.inverted(e.target.checked);
		chart.update();
	});
	/* Which of the two gives the widths; the drawing library reads "v". */
	function set_widths(node, former) {
		if (!("is" in node))
			node.is = node.v;
		node.v = former ? node.w : node.is;
		for (const child of node.c || [])
			set_widths(child, former);
	}

	function draw() {
		d3.select("#chart").selectAll("*").remove();
		d3.select("#chart").datum(data.tree).call(chart);
	}

	if (diff) {
		by_id("former-label").hidden = by_id("key-diff").hidden = false;
		by_id("key").hidden = true;
		set_widths(data.tree, total === 0);
		by_id("former").checked = total === 0;
		total = data.tree.v;
		by_id("former").addEventListener("change", (e) => {
			set_widths(data.tree, e.target.checked);
			total = data.tree.v;
			draw();
			search();
		});
	}
	window.addEventListener("resize", () => {
		if (!ready)
			return;
		chart.transitionDuration(0).width(width());
		chart.update();
		chart.transitionDuration(200);
	});
	if (total > 0 || (diff && data.tree.w > 0)) {
		draw();
		chart.transitionDuration(200);
		ready = true;
	} else {
		by_id("chart").textContent = "Nothing was counted that a graph could show.";
	}
})();
