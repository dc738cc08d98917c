// The requests that the page makes of its collector: the only ones. The attributes of the page have their paths, and the
// fragment of its address the tokens, if there are any: #submit=TOKEN&read=TOKEN. Browsers never send the fragment.
const paths = document.documentElement.dataset, tokens = new URLSearchParams(location.hash.slice(1));

async function ask(path, token, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { credentials: "omit", cache: "no-store", ...options, headers });
  if (response.ok) return response;
  let why = (await response.text()).trim().slice(0, 1000);
  try {
    const { error, refused } = JSON.parse(why);
    // the collector stored it earlier, and its answer was lost
    if (refused?.length === 1 && refused[0].code === "duplicate") return response;
    why = error ? error.message : refused[0].reason;
  } catch {
    // it is no JSON
  }
  throw Object.assign(new Error(`${why}.`), { status: response.status });
}

/** The survey, in the public form of package survey, and the collector's time: the clock here may be wrong. */
export async function survey() {
  const response = await ask(paths.survey, tokens.get("submit")), s = await response.json();
  s.now = Date.parse(response.headers.get("Date")); // NaN if a proxy removed it: then the collector decides
  if (s.version !== 1) throw new Error("its form is newer than this page");
  for (const q of s.questions) {
    const { mechanism, epsilon, seed, first, positions } = q;
    q.randomizer = q.low ? { mechanism, epsilon } : { mechanism, values: BigInt(q.k), epsilon, seed, first, positions };
  }
  return s;
}

/** The message about the randomized answers. Its random id lets the collector count it once. */
export function message(survey, answers) {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  return JSON.stringify({ version: 1, survey: survey.digest, id, answers });
}

export async function send(body) {
  await ask(paths.reports, tokens.get("submit"), { method: "POST", headers: { "Content-Type": "application/json" }, body });
}

/** Calls f with the results, now and whenever they change: events that the server sends. */
export async function follow(f) {
  for (let pause = 2000; ; pause = Math.min(2 * pause, 60000)) {
    try {
      const response = await ask(paths.results, tokens.get("read")), decoder = new TextDecoder();
      let text = "";
      for (const reader = response.body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        const events = (text + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
        text = events.pop();
        for (const event of events) {
          const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n");
          if (data) f(JSON.parse(data));
          pause = 2000;
        }
      }
    } catch (error) {
      if ([401, 403, 404].includes(error.status)) return; // the results are not for everybody
    }
    await new Promise((again) => setTimeout(again, pause));
  }
}
