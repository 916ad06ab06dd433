"""The page's style sheet, for light and dark mode and for any width of screen."""

from __future__ import annotations

CSS = """
:root { --ink:#1b1f24; --soft:#57606a; --paper:#ffffff; --card:#f6f7f9; --line:#d5d9de;
  --link:#0b62a8; --heat:#e07b00; --good:#00724f; --bad:#b3261e; color-scheme:light dark; }
@media (prefers-color-scheme: dark) { :root { --ink:#e7eaee; --soft:#a3abb5; --paper:#14171b;
  --card:#1d2127; --line:#3a414a; --link:#6cb6f5; --heat:#e08a1e; --good:#4cc99b; --bad:#ff8a80; } }
* { box-sizing:border-box; }
html { -webkit-text-size-adjust:100%; scroll-behavior:smooth; }
body { margin:0; background:var(--paper); color:var(--ink);
  font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif; }
main { max-width:1080px; margin:0 auto; padding:1.4rem clamp(0.9rem,3vw,2rem) 4rem; }
h1 { font-size:clamp(1.5rem,4vw,2.1rem); line-height:1.2; margin:0.4rem 0 0.6rem;
  overflow-wrap:anywhere; }
h2 { font-size:1.35rem; margin:2.6rem 0 0.5rem; padding-top:0.9rem;
  border-top:1px solid var(--line); }
h3 { font-size:1.05rem; margin:1.5rem 0 0.4rem; overflow-wrap:anywhere; }
h4 { font-size:1rem; margin:1.4rem 0 0.3rem; }
p { max-width:56rem; margin:0.5rem 0; }
a { color:var(--link); }
code, pre { font-size:0.88em;
  font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace; }
code { overflow-wrap:anywhere; }
.lead { font-size:1.1rem; }
.soft, .provenance { color:var(--soft); font-size:0.9rem; overflow-wrap:anywhere; }
.provenance { max-width:none; }
nav ul { display:flex; flex-wrap:wrap; gap:0.2rem 1.1rem; padding:0; margin:1rem 0 0;
  list-style:none; font-size:0.95rem; }
.cards { display:flex; flex-wrap:wrap; gap:0.7rem; margin:1.2rem 0; padding:0;
  list-style:none; }
.cards li { flex:1 1 auto; background:var(--card); border:1px solid var(--line); border-radius:8px;
  padding:0.6rem 0.8rem; }
.cards b { display:block; font-size:1.22rem; font-weight:650; line-height:1.3; white-space:nowrap; }
.cards span { color:var(--soft); font-size:0.86rem; }
.pair { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));
  gap:1.2rem; align-items:end; }
.beside { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));
  gap:0 1.8rem; align-items:start; }
.beside > * { min-width:0; }
.beside .scroll { margin:0.9rem 0; }
.frames { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));
  gap:1rem; }
figure { margin:0.9rem 0; min-width:0; }
figure img, figure svg { display:block; width:100%; height:auto; margin:0 auto; }
figure img { max-height:33rem; object-fit:contain; }
figcaption { color:var(--soft); font-size:0.9rem; margin-top:0.5rem; }
.film .shot { display:none; } .film .shot:last-of-type { display:inline; }
.controls { display:flex; gap:0.7rem; align-items:center; } .controls input { flex:1; }
.controls button { font:inherit; min-width:4.2em; }
.scroll { overflow-x:auto; margin:0.8rem 0; }
table { border-collapse:collapse; font-size:0.9rem; font-variant-numeric:tabular-nums; }
caption { text-align:left; color:var(--soft); padding:0 0 0.35rem; }
th, td { padding:0.24rem 0.6rem; border-bottom:1px solid var(--line); text-align:left;
  vertical-align:top; }
.beside th, .beside td { padding:0.24rem 0.45rem; }
th { font-weight:600; } thead th { vertical-align:bottom; }
tbody th { font-weight:500; min-width:8em; }
td code { white-space:nowrap; }
.n { text-align:right; white-space:nowrap; }
.group th { padding-top:0.7rem; color:var(--soft); font-weight:600; }
.h { text-align:right; white-space:nowrap;
  background:color-mix(in srgb, var(--heat) calc(var(--v) * 62%), transparent); }
.legend { display:flex; flex-wrap:wrap; gap:0.25rem 1rem; list-style:none; padding:0;
  margin:0.5rem 0; font-size:0.88rem; }
.legend i { display:inline-block; width:0.85em; height:0.85em; border-radius:2px;
  margin-right:0.4em; vertical-align:-0.05em; border:1px solid #0003; }
.badge { display:inline-block; border-radius:99px; padding:0 0.65em; font-weight:600;
  border:1.5px solid currentColor; white-space:nowrap; }
.good { color:var(--good); } .bad { color:var(--bad); }
.note { background:var(--card); border-left:4px solid var(--heat); padding:0.6rem 0.9rem;
  border-radius:0 6px 6px 0; margin:1rem 0; max-width:none; overflow-wrap:anywhere; }
.note.error { border-color:var(--bad); }
pre { background:var(--card); border:1px solid var(--line); border-radius:6px;
  padding:0.6rem 0.8rem; overflow-x:auto; max-width:100%; }
details { margin:0.5rem 0; } summary { cursor:pointer; overflow-wrap:anywhere; }
details pre { max-height:28rem; overflow:auto; }
dl.try dt { color:var(--soft); font-size:0.93rem; margin-top:0.8rem; } dl.try dd { margin:0; }
dl.try pre { margin:0.25rem 0; white-space:pre-wrap; }
svg.timeline { max-width:620px; }
.timeline text { fill:var(--soft); font:11px system-ui,"DejaVu Sans",sans-serif; }
.timeline text.what { fill:var(--ink); font-weight:600; paint-order:stroke;
  stroke:var(--paper); stroke-width:3px; }
.timeline .call { stroke:var(--paper); stroke-width:0.4; }
.timeline .mark { stroke:var(--soft); stroke-width:0.8; stroke-dasharray:2 3; }
.timeline .axis { stroke:var(--soft); stroke-width:0.8; }
.small { display:flex; flex-wrap:wrap; gap:0 2.4rem; }
.pair.steps, .pair.tops { align-items:start; }
.follows { padding-left:1.2rem; max-width:56rem; } .follows li { margin:0.3rem 0; }
@media print { .note, figure, table { break-inside:avoid; } }
"""

# Films: a slider shows one frame at a time.
SCRIPT = """
for (const film of document.querySelectorAll(".film")) {
  const shots = [...film.querySelectorAll(".shot")], slider = film.querySelector("input");
  const button = film.querySelector("button"), caption = film.querySelector("figcaption");
  const captions = JSON.parse(film.dataset.captions);
  let timer = 0;
  const show = (n) => {
    shots.forEach((shot, i) => { shot.style.display = i === n ? "inline" : "none"; });
    slider.value = n; caption.textContent = captions[n];
  };
  const stop = () => { clearInterval(timer); timer = 0; button.textContent = "play"; };
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  button.addEventListener("click", () => {
    if (timer) { stop(); return; }
    button.textContent = "stop";
    if (Number(slider.value) === shots.length - 1) show(0);
    timer = setInterval(() => {
      const next = Number(slider.value) + 1;
      if (next < shots.length) show(next); else stop();
    }, 250);
  });
}
"""
