#include "distlab/class/html.h"

#include <fmt/format.h>

#include "distlab/results/text.h"

namespace distlab {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #57606a; --line: #d0d7de; --bar: #3572b0;
  --good: #1a7f37; --bad: #b3261e; --warn: #8a5300; --warn-paper: #fff4de; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171a; --soft: #9aa4ae; --line: #363c43;
  --bar: #5b9bd5; --good: #57c878; --bad: #ff8a80; --warn: #ffc266; --warn-paper: #33270f; } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p.note { color: var(--soft); } p.warning { color: var(--warn); background: var(--warn-paper); padding: .6rem .8rem; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; }
th, td { padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.name, td.reason, li { overflow-wrap: anywhere; white-space: pre-wrap; } td.bar { width: 45%; }
.track { display: block; background: var(--line); height: .9rem; margin-top: .3rem; }
.fill { display: block; background: var(--bar); height: 100%; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
details { margin: .4rem 0; } summary { cursor: pointer; } code { font-size: .92em; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; color: #000; background: #fff; }
  .track, .fill { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  tr, details { break-inside: avoid; } h2 { break-after: avoid; } }
)";

}  // namespace

std::string html_text(std::string_view bytes) {
  std::string text;
  for (const char c : clean(bytes)) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '"': text += "&quot;"; break;
      case '\'': text += "&#39;"; break;
      default: text += c;
    }
  }
  return text;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n{}</body>\n</html>\n",
      html_text(title), style, body);
}

}  // namespace distlab
