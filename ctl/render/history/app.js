/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the time line of a page that memtap wrote: see ctl/render/history_page.h. */
(function () {
	"use strict";

	const data = JSON.parse(document.getElementById("data").textContent);
	const by_id = (id) => document.getElementById(id);
	const colors = ["#2e9e6b", "#4fb3d9", "#e0a030", "#b06ad0", "#8a8f3c", "#d06a6a",
		"#9aa5a0", "#e4efe9"];
	const LEFT = 70, TOP = 14, BOTTOM = 34, KILL = 1, STALL = 2;
	const moments = data.moments;
	const chart = by_id("chart");
	let width = 0, height = 0, here = moments.length - 1;

	function bytes(n) {
		const units = ["B", "KiB", "MiB", "GiB", "TiB"];
		let i = 0;

		for (; Math.abs(n) >= 1024 && i < units.length - 1; i++)
			n /= 1024;
		return n.toFixed(i ? 1 : 0) + " " + units[i];
	}

	/* In the time zone of the machine that wrote the page, as text. */
	function clock(m) {
		return m.w;
	}

	const first = moments[0].t, last = moments[moments.length - 1].t;
	const span = Math.max(last - first, 1);
	const x_of = (t) => LEFT + (t - first) / span * (width - LEFT - 4);
	const y_of = (n) => TOP + (1 - n / data.total) * (height - TOP - BOTTOM);

	function put(name, attributes, text) {
		const e = document.createElementNS("http://www.w3.org/2000/svg", name);

		for (const key in attributes)
			e.setAttribute(key, attributes[key]);
		if (text !== undefined)
			e.textContent = text;
		chart.appendChild(e);
		return e;
	}

	/* Parts without a gap in them, as [from, behind]. */
	function runs() {
		const all = [];
		let from = 0;

		for (let i = 1; i <= moments.length; i++) {
			if (i < moments.length && !moments[i].g)
				continue;
			all.push([from, i]);
			from = i;
		}
		return all;
	}

	function area(from, behind, kind) {
		const up = [], down = [];

		for (let i = from; i < behind; i++) {
			let below = 0;

			for (let k = 0; k < kind; k++)
				below += moments[i].v[k];
			up.push(x_of(moments[i].t).toFixed(1) + "," +
				y_of(below + moments[i].v[kind]).toFixed(1));
			down.unshift(x_of(moments[i].t).toFixed(1) + "," + y_of(below).toFixed(1));
		}
		/* one moment has a width, too */
		if (behind - from === 1) {
			const [x, y] = up[0].split(","), base = down[0].split(",")[1];

			return `${x},${y} ${+x + 2},${y} ${+x + 2},${base} ${x},${base}`;
		}
		return up.concat(down).join(" ");
	}

	function line(from, behind, value) {
		const points = [];

		for (let i = from; i < behind; i++)
			points.push(x_of(moments[i].t).toFixed(1) + "," +
				y_of(value(moments[i])).toFixed(1));
		return points.join(" ");
	}

	function draw() {
		const ticks = 4;

		chart.textContent = "";
		width = chart.clientWidth;
		height = chart.clientHeight;
		chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
		for (let i = 0; i <= ticks; i++) {
			const n = data.total * i / ticks;

			put("line", { class: "grid", x1: LEFT, x2: width, y1: y_of(n),
				y2: y_of(n) });
			put("text", { x: 2, y: y_of(n) + 4 }, bytes(n));
		}
		for (const [from, behind] of runs()) {
			data.kinds.forEach((name, k) => put("polygon", {
				points: area(from, behind, k), fill: colors[k % colors.length] }));
			put("polyline", { class: "available",
				points: line(from, behind, (m) => m.a) });
			if (from)
				put("rect", { class: "gap", x: x_of(moments[from - 1].t), y: TOP,
					width: Math.max(x_of(moments[from].t) -
						x_of(moments[from - 1].t), 1),
					height: height - TOP - BOTTOM });
		}
		for (const m of moments) {
			const x = x_of(m.t), low = height - BOTTOM;

			if (m.e & KILL)
				put("line", { class: "kill", x1: x, x2: x, y1: 0, y2: low });
			else if (m.e & STALL)
				put("line", { class: "stall", x1: x, x2: x, y1: TOP, y2: low });
			if (m.p > 0)
				put("rect", { class: "pressure", x: x - 1, width: 2,
					y: low - m.p * 0.6, height: m.p * 0.6 });
		}
		put("text", { x: LEFT, y: height - 18 }, clock(moments[0]));
		put("text", { x: width - 4, y: height - 18, "text-anchor": "end" },
			clock(moments[moments.length - 1]));
		put("line", { class: "here", id: "here", y1: 0, y2: height - BOTTOM });
		show(here);
	}

	function show(i) {
		const m = moments[i], mark = by_id("here");

		here = i;
		mark.setAttribute("x1", x_of(m.t));
		mark.setAttribute("x2", x_of(m.t));
		by_id("when").textContent = clock(m) + (m.g ? " (before it: " + m.g + ")" : "");
		by_id("moment").textContent =
			(m.x || "nothing is known of the time before this moment\n") + "\n" +
			data.kinds.map((name, k) => name + " " + bytes(m.v[k])).join(", ") +
			", available " + bytes(m.a) + ", swap " + bytes(m.s);
	}

	function nearest(event) {
		const box = chart.getBoundingClientRect();
		const t = first + (event.clientX - box.left - LEFT) / (width - LEFT - 4) * span;
		let best = 0;

		moments.forEach((m, i) => {
			if (Math.abs(m.t - t) < Math.abs(moments[best].t - t))
				best = i;
		});
		return best;
	}

	chart.addEventListener("pointerdown", (event) => show(nearest(event)));
	chart.addEventListener("pointermove", (event) => {
		if (event.buttons)
			show(nearest(event));
	});
	chart.addEventListener("keydown", (event) => {
		const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];

		if (!step)
			return;
		event.preventDefault();
		show(Math.min(Math.max(here + step, 0), moments.length - 1));
	});
	window.addEventListener("resize", draw);

	by_id("title").textContent = document.title = data.title;
	by_id("subtitle").textContent = data.subtitle;
	data.kinds.forEach((name, k) => {
		const color = document.createElement("i");

		color.style.background = colors[k % colors.length];
		by_id("key").append(color, name);
	});
	by_id("key").append(" · line: available · red below: time lost to memory pressure · " +
		"red line: OOM kill · dashed: stall · grey: nothing was recorded");
	moments.forEach((m, i) => {
		const what = [];

		if (m.g)
			what.push(m.g);
		if (m.e & KILL)
			what.push("OOM kill");
		if (m.e & STALL)
			what.push("tasks waited for memory");
		if (!what.length)
			return;
		const button = document.createElement("button");

		button.type = "button";
		button.textContent = clock(m) + " " + what.join("; ");
		button.addEventListener("click", () => show(i));
		by_id("events").append(button);
		by_id("happened").hidden = false;
	});
	draw();
	document.documentElement.dataset.ready = "1";
})();
