/* The scene of a run in space, on a canvas: seen from far away, turned by the pointer, over time. */
"use strict";

const TRAIL = 400; // points of a way, at most
const BODY = 0.4, ROW = 2.4, MOST_ROWS = 4; // size of a body in a plane over that of the scene, and its row's over it
const MOST_FORCE = 0.25; // length of the largest arrow, over the size of the scene

/* (s, u) of a unit quaternion times a vector: v + 2 s u x v + 2 u x (u x v) */
function rotated([s, x, y, z], [a, b, c]) {
    const p = y * c - z * b, q = z * a - x * c, r = x * b - y * a;
    return [a + 2 * (s * p + y * r - z * q), b + 2 * (s * q + z * p - x * r), c + 2 * (s * r + x * q - y * p)];
}

class Scene {
    /* items  as scene.py has them;  run  with its time and places */
    constructor(items, run) {
        this.items = items;
        this.places = run.places;
        this.count = run.time.length;
    }

    number(value, k) {
        return typeof value === "string" ? this.places[value][k] : value;
    }

    vector(values, k) {
        return values.map((value) => this.number(value, k));
    }

    /* The poses [x, y, angle] of the bodies of a linkage, the ground last. */
    poses(joints, k) {
        const found = [], of = (body) => (body < 0 ? [0, 0, 0] : found[body]);
        for (const { parent, place, angle, q, slides } of joints) {
            const [x, y, before] = of(parent), [a, b] = this.vector(place, k), way = this.number(q, k);
            const turned = before + this.number(angle, k) + (slides ? 0 : way);
            const shift = slides ? way : 0;
            found.push([x + Math.cos(before) * a - Math.sin(before) * b + Math.cos(turned) * shift,
                y + Math.sin(before) * a + Math.cos(before) * b + Math.sin(turned) * shift, turned]);
        }
        return of.bind(null);
    }

    static on([x, y, angle], [a, b]) {
        return [x + Math.cos(angle) * a - Math.sin(angle) * b, y + Math.sin(angle) * a + Math.cos(angle) * b, 0];
    }

    /* Bodies in a plane, as large as the scene; several of them stand in rows, below one another. */
    partLines(item, k, { size, pitch, rows }) {
        const [x, y] = this.vector(item.place, k), angle = this.number(item.angle, k);
        const [c, s] = [size * Math.cos(angle), size * Math.sin(angle)], shift = ((rows - 1) / 2 - item.row) * pitch;
        return item.lines.map((line) => line.map(([a, b]) => [x + c * a - s * b, y + s * a + c * b + shift, 0]));
    }

    /* The line of a curve, or a profile along the way of its point over the run and a little beyond. */
    curve(item, curve, k) {
        const pose = this.poses(item.joints, k)(curve.body);
        const base = this.vector(curve.base, k), angle = this.number(curve.angle, k);
        const on = ([x, y]) => Scene.on(pose, [base[0] + Math.cos(angle) * x - Math.sin(angle) * y,
            base[1] + Math.sin(angle) * x + Math.cos(angle) * y]);
        if (curve.line.length)
            return curve.line.map(on);
        const f = this.vector(curve.f, k), [low, high] = this.way(item, curve);
        return Array.from({ length: 61 }, (_, i) => {
            const x = low + ((high - low) * i) / 60;
            return on([x, f.reduceRight((sum, one) => sum * x + one, 0)]);
        });
    }

    /* Along x of a profile, how far its point goes over the run, and three tenths more. */
    way(item, curve) {
        this.ways = this.ways || new Map();
        if (!this.ways.has(curve)) {
            let low = Infinity, high = -Infinity;
            for (let i = 0; i <= 60; i++) {
                const k = Math.floor((i / 60) * (this.count - 1)), pose = this.poses(item.joints, k);
                const [x, y] = Scene.on(pose(curve.other), this.vector(curve.point, k)), [a, b, turn] = pose(curve.body);
                const base = this.vector(curve.base, k), angle = turn + this.number(curve.angle, k);
                const dx = x - a - Math.cos(turn) * base[0] + Math.sin(turn) * base[1];
                const dy = y - b - Math.sin(turn) * base[0] - Math.cos(turn) * base[1];
                const along = Math.cos(angle) * dx + Math.sin(angle) * dy;
                [low, high] = [Math.min(low, along), Math.max(high, along)];
            }
            const more = 0.3 * Math.max(high - low, 1e-2);
            this.ways.set(curve, [low - more, high + more]);
        }
        return this.ways.get(curve);
    }

    /* The points that are there at a sample, of everything but what is as large as the scene, and forces. */
    *points(k) {
        for (const item of this.items)
            if (item.kind === "body" || item.kind === "between")
                for (const place of item.points)
                    yield this.vector(place, k);
            else if (item.kind === "force")
                yield this.vector(item.at, k);
            else if (item.kind === "part")
                yield this.vector(item.place, k);
            else if (item.kind === "shape" && !item.unbounded)
                for (const line of this.lines(item, k, 1))
                    yield* line;
            else if (item.kind === "linkage") {
                const pose = this.poses(item.joints, k);
                for (const [body, ...point] of item.links)
                    yield Scene.on(pose(body), this.vector(point, k));
                for (let i = 0; i < item.joints.length; i++)
                    yield Scene.on(pose(i), [0, 0]);
                for (const curve of item.curves)
                    if (curve.line.length)
                        yield* this.curve(item, curve, k);
            }
    }

    lines(item, k, size) {
        const r = this.vector(item.r, k), q = this.vector(item.q, k);
        return item.lines.map((line) => line.map((point) => {
            const [x, y, z] = rotated(q, item.unbounded ? point.map((one) => one * size) : point);
            return [r[0] + x, r[1] + y, r[2] + z];
        }));
    }

    /* Middle and half the size of all that is there over the run. */
    extent() {
        const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
        for (let i = 0; i <= 40; i++)
            for (const point of this.points(Math.floor((i / 40) * (this.count - 1))))
                for (let axis = 0; axis < 3; axis++) {
                    low[axis] = Math.min(low[axis], point[axis]);
                    high[axis] = Math.max(high[axis], point[axis]);
                }
        for (const item of this.items.filter((one) => one.unbounded))
            this.vector(item.r, 0).forEach((value, axis) => {
                low[axis] = Math.min(low[axis], value);
                high[axis] = Math.max(high[axis], value);
            });
        const middle = low.map((value, axis) => (value + high[axis]) / 2);
        const half = Math.max(...low.map((value, axis) => (high[axis] - value) / 2), 1e-6);
        const rows = this.items.filter((one) => one.kind === "part").length;
        if (rows === 0)
            return { middle, half };
        const size = BODY * half * Math.min(1, MOST_ROWS / rows), pitch = ROW * size;
        return { middle, half: Math.max(half + 1.5 * size, (rows * pitch) / 2), parts: { size, pitch, rows } };
    }

    largestForce() {
        let most = 0;
        for (const item of this.items.filter((one) => one.kind === "force"))
            for (let k = 0; k < this.count; k++)
                most = Math.max(most, Math.hypot(...this.vector(item.f, k)));
        return most;
    }

    isFlat() {
        return this.items.some((one) => one.kind === "linkage" || one.kind === "part");
    }
}

/* Real time, stretched to three seconds at least and ten at most. */
const lengthShown = (length) => Math.min(Math.max(length, 3), 10);

class View {
    constructor(canvas, player) {
        this.canvas = canvas;
        this.player = player;
        this.angles = null; // about z, and above the ground, rad
        this.zoom = 1;
        this.hand = null; // on points that can be dragged
        this.sample = 0;
        [this.width, this.height] = [canvas.clientWidth || 600, canvas.clientHeight || 300];
        new ResizeObserver(([{ contentRect: { width, height } }]) => {
            if (width && (width !== this.width || height !== this.height)) {
                [this.width, this.height] = [width, height];
                this.draw();
            }
        }).observe(canvas);
        let from = null;
        canvas.addEventListener("pointerdown", (event) => {
            canvas.setPointerCapture(event.pointerId);
            if (!this.hand || !this.hand.take(event))
                from = [event.clientX, event.clientY];
        });
        canvas.addEventListener("pointermove", (event) => {
            if (!from || !this.scene)
                return;
            this.angles[0] -= 0.01 * (event.clientX - from[0]);
            this.angles[1] = Math.min(Math.max(this.angles[1] + 0.01 * (event.clientY - from[1]), -1.57), 1.57);
            from = [event.clientX, event.clientY];
            this.draw();
        });
        for (const end of ["pointerup", "pointercancel"])
            canvas.addEventListener(end, () => (from = null));
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            this.zoom *= Math.exp(-0.001 * event.deltaY);
            this.draw();
        }, { passive: false });
        player.querySelector("button").addEventListener("click", () => (this.playing ? this.stop() : this.play()));
        player.querySelector("input").addEventListener("input", (event) => {
            this.stop();
            this.at(Math.round(event.target.value * ((this.scene ? this.scene.count : 1) - 1)));
        });
    }

    show(items, run, other) {
        this.run = run;
        this.scene = new Scene(items, run);
        this.other = other ? new Scene(items, other) : null;
        if (!this.extent || !this.hand || !this.hand.isKept)
            this.extent = this.scene.extent();
        this.force = this.scene.largestForce();
        this.share = items.some((one) => one.unbounded) ? 0.36 : 0.42; // of the canvas, for half of what is there
        this.angles = this.angles || (this.scene.isFlat() ? [-Math.PI / 2, Math.PI / 2] : [-1.1, 0.35]);
        this.at(Math.min(this.sample, this.scene.count - 1));
    }

    at(sample) {
        if (!this.scene)
            return;
        this.sample = sample;
        this.player.querySelector("input").value = sample / Math.max(this.scene.count - 1, 1);
        this.player.querySelector("span").textContent = `${short(this.run.time[sample])} s`;
        this.draw();
    }

    play() {
        if (!this.scene)
            return;
        const { time } = this.run, length = time[time.length - 1] - time[0];
        const shown = lengthShown(length), begin = performance.now();
        const first = this.sample < this.scene.count - 1 ? this.sample / (this.scene.count - 1) : 0;
        this.playing = true;
        this.player.querySelector("button").textContent = "pause";
        const next = () => {
            if (!this.playing)
                return;
            const share = first + (performance.now() - begin) / (1000 * shown);
            this.at(Math.min(Math.round(share * (this.scene.count - 1)), this.scene.count - 1));
            if (share < 1)
                requestAnimationFrame(next);
            else
                this.stop();
        };
        requestAnimationFrame(next);
    }

    stop() {
        this.playing = false;
        this.player.querySelector("button").textContent = "play";
    }

    /* On the screen, px. */
    placed(point) {
        const [turn, rise] = this.angles, [x, y, z] = point.map((value, axis) => value - this.extent.middle[axis]);
        const right = -Math.sin(turn) * x + Math.cos(turn) * y, ahead = Math.cos(turn) * x + Math.sin(turn) * y;
        const up = Math.cos(rise) * z - Math.sin(rise) * ahead;
        return [this.width / 2 + this.scale * right, this.height / 2 - this.scale * up];
    }

    draw() {
        this.pen = emptied(this.canvas, this.width, this.height);
        if (!this.scene || this.scene.count === 0)
            return;
        this.scale = (this.share * this.zoom * Math.min(this.width, this.height)) / this.extent.half;
        this.pen.lineJoin = this.pen.lineCap = "round";
        if (this.other && this.other.count > this.sample)
            this.drawScene(this.other, true);
        this.drawScene(this.scene, false);
        if (this.hand)
            this.hand.draw();
    }

    line(points, colour, width, faint) {
        const { pen } = this;
        pen.strokeStyle = colour;
        pen.lineWidth = width;
        pen.globalAlpha = faint ? 0.45 : 1;
        pen.beginPath();
        for (const point of points)
            pen.lineTo(...this.placed(point));
        pen.stroke();
        pen.globalAlpha = 1;
    }

    dot(point, colour, radius, faint) {
        const { pen } = this;
        pen.fillStyle = pen.strokeStyle = colour;
        pen.globalAlpha = faint ? 0.6 : 1;
        pen.beginPath();
        pen.arc(...this.placed(point), radius, 0, 2 * Math.PI);
        if (faint)
            pen.stroke();
        else
            pen.fill();
        pen.globalAlpha = 1;
    }

    trail(scene, place, colour) {
        const last = this.sample, step = Math.max(Math.ceil(last / TRAIL), 1), points = [];
        for (let k = 0; k <= last; k += step)
            points.push(scene.vector(place, k));
        this.line([...points, scene.vector(place, last)], colour, 1, true);
    }

    drawScene(scene, faint) {
        const k = this.sample, body = COLOURS[0], part = style("--faint"), ground = style("--grid");
        for (const item of scene.items) {
            if (item.kind === "shape" && !faint) {
                const colour = item.color || (item.body ? body : item.unbounded ? ground : part);
                for (const line of scene.lines(item, k, 1.3 * this.extent.half))
                    this.line(line, colour, 1, !item.unbounded && !item.color);
            } else if (item.kind === "part") {
                for (const line of scene.partLines(item, k, this.extent.parts))
                    this.line(line, COLOURS[item.row % COLOURS.length], 2, faint);
            } else if (item.kind === "between") {
                this.line(item.points.map((place) => scene.vector(place, k)), COLOURS[2], 2, faint);
            } else if (item.kind === "body") {
                const points = item.points.map((place) => scene.vector(place, k)), [first, ...rest] = points;
                this.trail(scene, item.points[0], body);
                for (const point of rest)
                    this.line([first, point], body, 2, faint);
                if (rest.length > 2)
                    this.line([...rest, rest[0]], body, 2, faint);
                this.dot(first, body, 6, faint);
            } else if (item.kind === "linkage") {
                this.linkage(scene, item, k, faint);
            } else if (item.kind === "force" && !faint) {
                this.arrow(scene.vector(item.at, k), scene.vector(item.f, k));
            }
        }
    }

    linkage(scene, item, k, faint) {
        const pose = scene.poses(item.joints, k);
        for (const curve of item.curves)
            this.line(scene.curve(item, curve, k), style("--text"), 2, faint);
        for (const [number, ...point] of item.links)
            this.line([Scene.on(pose(number), [0, 0]), Scene.on(pose(number), scene.vector(point, k))],
                COLOURS[number % COLOURS.length], 4, faint);
        item.joints.forEach((joint, i) => this.dot(Scene.on(pose(i), [0, 0]), style("--text"), 3.5, faint));
    }

    arrow(at, force) {
        const size = Math.hypot(...force);
        if (!(size > 1e-3 * this.force))
            return;
        const length = (MOST_FORCE * this.extent.half * 2) / this.force, end = at.map((value, axis) => value + length * force[axis]);
        this.line([at, end], COLOURS[1], 2, false);
        const [x, y] = this.placed(end), [a, b] = this.placed(at), way = Math.hypot(x - a, y - b) || 1;
        const [p, q] = [(x - a) / way, (y - b) / way], { pen } = this;
        pen.fillStyle = COLOURS[1];
        pen.beginPath();
        pen.moveTo(x + 4 * p, y + 4 * q);
        pen.lineTo(x - 5 * p - 4 * q, y - 5 * q + 4 * p);
        pen.lineTo(x - 5 * p + 4 * q, y - 5 * q - 4 * p);
        pen.fill();
    }
}
