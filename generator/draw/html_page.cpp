#include "generator/draw/html_page.hpp"

#include "generator/draw/markup.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/svg.hpp"
#include "generator/draw/svg_grid.hpp"

#include <fmt/format.h>

#include <string_view>

namespace jitgemm {
namespace {

constexpr std::string_view kPageCss = R"css(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;font-size:16px}
main{max-width:1200px;margin:0 auto;padding:28px 20px 72px}
h1{font-size:26px;line-height:1.2;margin:0 0 6px}
h2{font-size:20px;line-height:1.25;margin:48px 0 4px}
h3{font-size:15px;margin:0 0 6px}
p{margin:4px 0 12px;max-width:46em}
.muted,figcaption{color:var(--muted);font-size:14px}
figure{margin:0 0 16px;overflow-x:auto;padding-bottom:4px;min-width:min(300px,100%);max-width:100%;
background:linear-gradient(90deg,var(--paper) 40%,#0000) 0 0/40px 100%,
linear-gradient(270deg,var(--paper) 40%,#0000) 100% 0/40px 100%,
linear-gradient(90deg,var(--line),#0000) 0 0/14px 100%,linear-gradient(270deg,var(--line),#0000) 100% 0/14px 100%;
background-repeat:no-repeat;background-attachment:local,local,scroll,scroll}
.legend{display:flex;flex-wrap:wrap;gap:2px 18px;font-size:14px;color:var(--muted);max-width:none}
.legend span{display:inline-flex;align-items:center;gap:6px}
svg{display:block;height:auto}
svg.fit{max-width:100%}
svg [data-h]{cursor:crosshair}
svg.marking [data-k]{opacity:.28}
svg.marking [data-k].on{opacity:1}
.side{display:flex;flex-wrap:wrap;gap:12px 36px;align-items:flex-start}
.name{overflow-wrap:anywhere}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(132px,1fr));gap:10px;margin:16px 0 0}
dl>div{background:var(--panel);border-radius:8px;padding:8px 12px}
dt{color:var(--muted);font-size:13px}
dd{margin:0;font-weight:600}
table{border-collapse:collapse;font-size:14px}
th,td{padding:5px 14px 5px 0;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--muted);font-weight:400}
th:nth-child(-n+3),td:nth-child(-n+3){text-align:left}
polyline.g{fill:none;stroke:var(--line);stroke-width:1;pointer-events:none}
.d path{stroke:var(--ink)}
details{margin:8px 0}
summary{cursor:pointer}
td.why{white-space:normal;text-align:left}
th.why{text-align:left}
.side>div{max-width:100%}
.side>.legend{flex-basis:100%;margin:0}
#hint{position:fixed;z-index:9;pointer-events:none;display:none;max-width:min(28em,92vw);
padding:5px 9px;border-radius:6px;
background:var(--ink);color:var(--paper);font-size:13px;white-space:pre-line;box-shadow:0 2px 10px #0005}
)css";

constexpr std::string_view kScript = R"js(
(function () {
  var hint = document.getElementById('hint'), last = null, marked = [];
  function leave() {
    if (!last) return;
    if (last.ownerSVGElement) last.ownerSVGElement.classList.remove('marking');
    marked.forEach(function (e) { e.classList.remove('on'); });
    marked = []; last = null; hint.style.display = 'none';
  }
  function enter(target) {
    leave();
    last = target;
    hint.textContent = target.dataset.h;
    hint.style.display = target.dataset.h ? 'block' : 'none';
    var drawing = target.ownerSVGElement, owner = target.dataset.k;
    if (!drawing || !owner) return;
    drawing.querySelectorAll('[data-k]').forEach(function (e) {
      if (e.dataset.k === owner) { e.classList.add('on'); marked.push(e); }
    });
    drawing.classList.add('marking');
  }
  function place(event) {
    var x = Math.min(event.clientX + 14, innerWidth - hint.offsetWidth - 8);
    var y = event.clientY + 18;
    if (y + hint.offsetHeight > innerHeight - 8) y = event.clientY - hint.offsetHeight - 12;
    hint.style.left = Math.max(8, x) + 'px'; hint.style.top = y + 'px';
  }
  function follow(event) {
    var target = event.target.closest ? event.target.closest('[data-h]') : null;
    if (!target) return leave();
    if (target !== last) enter(target);
    place(event);
  }
  document.addEventListener('pointermove', follow);
  document.addEventListener('pointerdown', follow);
  document.addEventListener('scroll', leave, true);
})();
)js";

}  // namespace

std::string html_page(const std::string& title, const std::string& body, std::string_view css) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src "
        "&#39;unsafe-inline&#39;; "
        "script-src &#39;unsafe-inline&#39;\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n<title>{}</title>\n"
        "<style>\n{}{}{}body{{font-family:{}}}{}{}</style>\n</head>\n<body>\n<main>\n{}</main>\n"
        "<output id=\"hint\"></output>\n<script>{}</script>\n</body>\n</html>\n",
        escape_markup(title), palette_css(), grid_css(), svg_css(), kSansSerif, kPageCss, css, body, kScript);
}

std::string page_fact(std::string_view name, std::string_view text) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(name), escape_markup(text));
}

}  // namespace jitgemm
