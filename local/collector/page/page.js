// The page of a survey: asks, randomizes each answer here, shows the message, sends it, and shows the results. Answers are
// only in the form and in the variables of `draw`. Texts of the survey become text nodes, never markup.
import { Numbers, Oracle, hex } from "./index.js";
import * as collector from "./collector.js";

const $ = (id) => document.getElementById(id);
const most = 12; // radio buttons; beyond that, a list

/** An element with properties and children. */
function make(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

function say(text, problem = false) {
  $("status").textContent = text;
  $("status").classList.toggle("problem", problem);
}

/** Shows one of the sections that ask, and moves the focus to its heading. */
function show(id) {
  for (const other of ["ask", "preview"]) $(other).hidden = other !== id;
  if (id === "preview") $("preview-title").focus();
}

// The browser's storage keeps the drawn message, so that a reload draws no other one, and the memories of devices.
const memory = new Map();
function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return memory.get(key) ?? null;
  }
}
function keep(key, text) {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    memory.set(key, text);
    return false;
  }
}

// Asking

function field(q, i) {
  const name = `q${i}`;
  if (!q.values) {
    const input = make("input", { type: "number", id: name, name, required: true, min: q.low, max: q.high, step: "any" });
    const label = make("label", { htmlFor: name, lang: q.language }, q.question);
    return make("div", { className: "number" }, label, input, make("p", { className: "note" }, `From ${q.low} to ${q.high}.`));
  }
  if (q.values.length > most) {
    const select = make("select", { id: name, name, required: true }, make("option", { value: "" }, ""));
    q.values.forEach((text, v) => select.append(make("option", { value: v }, text)));
    return make("div", { className: "number" }, make("label", { htmlFor: name, lang: q.language }, q.question), select);
  }
  const set = make("fieldset", { lang: q.language }, make("legend", {}, q.question));
  q.values.forEach((text, v) => {
    set.append(make("label", { className: "choice" }, make("input", { type: "radio", name, value: v, required: true }), text));
  });
  return set;
}

/** Randomizes the answers of the form, once. */
function draw(survey, form) {
  const answers = new FormData(form);
  return survey.questions.map((q, i) => {
    const answer = Number(answers.get(`q${i}`));
    if (!q.values) {
      const x = (2 * answer - q.low - q.high) / (q.high - q.low);
      return new Numbers(q.randomizer).randomize(Math.min(Math.max(x, -1), 1));
    }
    const oracle = new Oracle(q.randomizer);
    if (!q.repeated) return hex(oracle.randomize(answer));
    // the memory outlives the rounds of the survey, and is stored before the report is sent: see Device
    const { mechanism, values, epsilon, first, positions } = q.randomizer;
    const key = `dither device ${survey.name} ${q.name} ${[mechanism, values, epsilon, first, positions]}`, stored = kept(key);
    const device = stored ? oracle.openDevice(stored) : oracle.newDevice(), report = hex(device.report(answer));
    if (!keep(key, device.stored())) throw new Error("the browser does not store the memory that a repeated question needs");
    return report;
  });
}

const signed = (text) => text.replace("-", "\u2212");
const points = (x) => signed((100 * x).toFixed(Math.abs(x) < 0.1 ? 1 : 0));
const percent = (x) => `${points(x)}\u00a0%`;

/** The meaning of a report, for the person. */
function meaning(q, report) {
  const e = Math.exp(q.epsilon), strong = (text) => make("strong", {}, text);
  if (!q.values) {
    return report === "+" || report === "-"
      ? ["A sign: ", strong(report === "+" ? "plus" : "minus"), ". Higher answers make plus more likely."]
      : ["A random number that is more likely near your answer: ", strong(report), "."];
  }
  const k = q.values.length, m = q.randomizer.mechanism;
  if (m === "krr" || m === "coin") {
    const width = 32 - Math.clz32(k - 1), v = parseInt(report, 16) >> (8 * Math.ceil(width / 8) - width);
    const own = m === "coin" ? 0.75 : e / (e + k - 1);
    const rest = k === 2 ? "Otherwise it is the other answer." : "Otherwise it is one of the other answers.";
    return [strong(q.values[v]), `. With probability ${percent(own)} this is your own answer. ${rest}`];
  }
  const bytes = report.length / 2;
  return [`${bytes} ${bytes === 1 ? "byte" : "bytes"} that each answer could have caused: `, strong(report), "."];
}

function preview(survey, message) {
  const rows = survey.questions.flatMap((q, i) => [
    make("dt", { lang: q.language }, q.question), make("dd", {}, ...meaning(q, message.reports[i])),
  ]);
  $("reports").replaceChildren(...rows);
  $("message").textContent = message.body;
  show("preview");
}

// Results

const svg = (tag, attributes) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
};

/** A bar from 0 to 1: the interval, and the estimate. */
function bar({ share, low, high }) {
  const at = (x) => 100 * Math.min(Math.max(x, 0), 1);
  const line = (name, x1, x2, y1, y2) => svg("line", { class: name, x1, x2, y1, y2 });
  const out = svg("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const x of [0, 50, 100]) out.append(line("axis", x, x, 0, 20));
  out.append(line("axis", 0, 100, 10, 10), line("interval", at(low), at(high), 10, 10), line("estimate", at(share), at(share), 4, 16));
  return out;
}

function chart(q, result) {
  if (!q.values) {
    const text = `The mean is ${number(result.mean)}, with the interval from ${number(result.low)} to ${number(result.high)}.`;
    return make("div", {}, make("h3", { lang: q.language }, q.question), make("p", {}, text));
  }
  const head = ["Answer", "Share", "0 to 100 %"].map((text, i) =>
    make("th", { scope: "col", className: ["value", "share", ""][i] }, text));
  const rows = result.values.map((v) => {
    const span = make("span", {}, `${points(v.low)} to ${percent(v.high)}`);
    return make("tr", {}, make("th", { scope: "row", lang: q.language }, q.values[v.value]),
      make("td", { className: "share" }, percent(v.share), span), make("td", {}, bar(v)));
  });
  return make("table", {}, make("caption", { lang: q.language }, q.question),
    make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

const number = (x) => signed(Number(x.toPrecision(4)).toString());

function results(survey, update) {
  $("results").hidden = false;
  $("count").textContent = `${update.reports} ${update.reports === 1 ? "person has" : "people have"} answered.`;
  const known = survey.questions.map((q, i) => [q, update.questions[i]]).filter(([, r]) => r);
  $("charts").replaceChildren(...known.map(([q, r]) => chart(q, r)));
}

// The course of the page

async function start() {
  const survey = await collector.survey();
  const key = `dither message ${survey.key}`, done = `dither sent ${survey.key}`;
  $("title").textContent = document.title = survey.title;
  if (survey.language) $("title").lang = survey.language;
  collector.follow((update) => results(survey, update));
  if (kept(done)) return say("You have answered this survey.");
  if (!survey.open) return say(survey.closed);

  const stored = () => JSON.parse(kept(key));
  let message = stored();
  say("");
  $("questions").replaceChildren(...survey.questions.map(field));
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      message = stored() ?? collector.message(survey, draw(survey, $("form"))); // another tab may have drawn one
    } catch (error) {
      return say(`Nothing was sent: ${error.message}.`, true);
    }
    keep(key, JSON.stringify(message));
    $("form").reset();
    preview(survey, message);
  });
  $("send").addEventListener("click", async () => {
    $("send").disabled = true;
    say("The message is on its way.");
    try {
      await collector.send(message.body);
      keep(done, "yes");
      show("");
      say("Thank you. The collector has stored your message.");
    } catch (error) {
      say(`The message was not accepted: ${error.message} You may send it again: it is counted once.`, true);
      $("send").disabled = false;
    }
  });
  if (message) preview(survey, message);
  else show("ask");
}

start().catch((error) => say(`The survey could not be loaded: ${error.message}`, true));
