/* A hand on a point: where the pointer drags an input position becomes its drive, and its rate that of the velocity. */
"use strict";

const REACH = 16; // px about a point within which it is taken
const GRID = 240; // times of a drive over a run
const INSTANT = 1; // ms of the hand, in which its way is computed
const FOLLOW = 0.05; // s of the hand, in which the point closes in on the pointer: the rate has no jumps then
const DIGITS = 5; // of a place, after that of the size of the scene
const STEEP = 1.2; // rad, above which the pointer moves a point along the ground

class Hand {
    constructor(view) {
        this.view = view;
        this.held = null;
        this.points = SYSTEM.scene.items.filter((one) => one.kind === "force").map((one) => one.at)
            .filter((at) => at.some(isFree));
        const { canvas } = view;
        canvas.addEventListener("pointermove", (event) => {
            if (this.held)
                this.move(event);
            else
                canvas.style.cursor = this.near(event) ? "grab" : "";
        });
        for (const end of ["pointerup", "pointercancel"])
            canvas.addEventListener(end, () => this.held && this.release());
    }

    get isKept() { // the picture keeps its size while a hand has moved something
        return Object.values(state.drives).some((one) => one.shape === "hand");
    }

    near({ offsetX, offsetY }) {
        const { view } = this;
        if (!view.scene)
            return null;
        const ways = this.points.map((at) => {
            const [x, y] = view.placed(view.scene.vector(at, view.sample));
            return Math.hypot(x - offsetX, y - offsetY);
        });
        const nearest = ways.indexOf(Math.min(...ways));
        return ways[nearest] <= REACH ? this.points[nearest] : null;
    }

    /* Takes a point under the pointer, if there is one: from the moment that is shown on, at the end from the start. */
    take(event) {
        const at = this.near(event), { view } = this;
        if (!at)
            return false;
        view.stop();
        const { scene, run } = view, start = run.time[0], length = state.stop - start;
        const place = scene.vector(at, view.sample), begin = view.sample < scene.count - 1 ? view.sample : 0;
        const every = Math.max(length / GRID, state.step), known = Math.floor((run.time[begin] - start) / every);
        const exponent = Math.floor(Math.log10(view.extent.half)) - DIGITS;
        const sample = (i) => Math.min(Math.round((i * every) / state.step), begin);
        const points = at.map((one, axis) => (isFree(one) ? Array.from({ length: known + 1 }, (_, i) =>
            rounded(begin ? scene.number(one, sample(i)) : place[axis], exponent)) : null));
        this.held = { at, place, speed: [0, 0, 0], target: [...place], from: [event.clientX, event.clientY], first: [...place],
            begin: run.time[begin], every, exponent, points, moved: [false, false, false], taken: performance.now(), seen: performance.now() };
        view.canvas.style.cursor = "grabbing";
        requestAnimationFrame(() => this.follow());
        return true;
    }

    move(event) {
        const { held, view } = this, [turn, rise] = view.angles;
        const right = (event.clientX - held.from[0]) / view.scale, up = (held.from[1] - event.clientY) / view.scale;
        const isUpright = isFree(held.at[2]) && Math.abs(rise) < STEEP;
        const ahead = isUpright ? 0 : -up / (Math.sin(rise) || 1);
        const way = [-Math.sin(turn) * right + Math.cos(turn) * ahead, Math.cos(turn) * right + Math.sin(turn) * ahead,
            isUpright ? up / Math.cos(rise) : 0];
        held.target = held.first.map((value, axis) => (held.points[axis] ? value + way[axis] : value));
    }

    /* Each frame: the point follows, the drive grows, and the run comes along where it can. */
    follow() {
        const { held, view } = this, now = performance.now();
        if (!held)
            return;
        const { start } = SYSTEM.experiment, length = state.stop - start, pace = length / lengthShown(length);
        const parts = Math.max(Math.ceil((now - held.seen) / INSTANT), 1), part = (now - held.seen) / 1000 / parts;
        let t;
        for (let i = 1; i <= parts; i++) {
            t = Math.min(held.begin + ((held.seen - held.taken) / 1000 + i * part) * pace, state.stop);
            this.advance(part, Math.floor((t - start) / held.every));
        }
        held.seen = now;
        held.points.forEach((points, axis) => {
            if (points && held.moved[axis])
                state.drives[held.at[axis]] = { shape: "hand", every: held.every, exponent: held.exponent, points: [...points] };
        });
        if (!busy)
            request();
        view.at(Math.min(Math.round((t - start) / state.step), view.scene.count - 1));
        if (t >= state.stop)
            this.release();
        else
            requestAnimationFrame(() => this.follow());
    }

    /* The point after so many s of the hand; `known`: the last number of the grid that has passed. */
    advance(duration, known) {
        const { held } = this;
        held.points.forEach((points, axis) => {
            const pull = (held.target[axis] - held.place[axis]) / FOLLOW ** 2 - (2 * held.speed[axis]) / FOLLOW;
            held.speed[axis] += pull * duration; // critically damped
            held.place[axis] += held.speed[axis] * duration;
            const value = rounded(held.place[axis], held.exponent);
            while (points && points.length <= known)
                points.push(value);
            held.moved[axis] = held.moved[axis] || Boolean(points && value !== rounded(held.first[axis], held.exponent));
        });
    }

    release() {
        this.held = null;
        this.view.canvas.style.cursor = "";
        controls();
        changed();
    }

    /* A ring about what can be taken. */
    draw() {
        const { view, held } = this, { pen } = view;
        for (const at of this.points) {
            const [x, y] = view.placed(held && held.at === at ? held.place : view.scene.vector(at, view.sample));
            pen.strokeStyle = style("--accent");
            pen.lineWidth = held && held.at === at ? 3 : 1.5;
            pen.beginPath();
            pen.arc(x, y, 9, 0, 2 * Math.PI);
            pen.stroke();
            pen.beginPath();
            pen.fillStyle = style("--accent");
            pen.arc(x, y, 2.5, 0, 2 * Math.PI);
            pen.fill();
        }
    }
}
