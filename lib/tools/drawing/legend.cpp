#include "drawing/legend.h"

#include <fmt/format.h>

#include "drawing/text_line.h"

namespace dist::trace {

void Legend::add(const Mark& mark) {
  switch (mark.kind) {
    case MarkKind::arrow: arrows_ = true; break;
    case MarkKind::arrival: arrivals_ = true; break;
    case MarkKind::reduced: reductions_ = true; break;
    case MarkKind::call_begin:
    case MarkKind::call_end: calls_ = true; return;
    case MarkKind::shared: shared_ = true; return;
    case MarkKind::departure: departures_ = true; return;
    case MarkKind::lost: losses_ = true; return;
  }
  contributors_ = contributors_ || (mark.contributors != 0 && mark.count == 1);
}

void Legend::add_state(const Event& event) { (event.kind == Kind::wait ? waits_ : computes_) = true; }

std::string Legend::str(int width) const {
  std::string text, line;
  const auto entry = [&](bool used, const std::string& words) {
    if (!used) return;
    if (!line.empty() && columns_of(line) + 3 + columns_of(words) > width) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + words;
  };
  const Glyphs& g = glyphs_;
  entry(calls_, fmt::format("{} in a call", g.busy));
  entry(shared_, fmt::format("{} works in shared memory: nothing is sent", g.shared));
  entry(departures_, fmt::format("{} a message leaves", g.departure));
  entry(arrows_, fmt::format("{}{} it arrives", g.dash, g.to_right));
  entry(arrivals_, fmt::format("{} from itself or a rank not drawn", g.arrival));
  entry(losses_, fmt::format("{} a message that is never received", g.lost));
  entry(reductions_, fmt::format("{} a part is added", g.reduced));
  entry(contributors_, fractions_ ? "{0,1}, 2/8 whose parts are in it" : "{0,1} whose parts are in it");
  entry(waits_, fmt::format("{} waits", g.waits));
  entry(computes_, fmt::format("{} computes", g.computes));
  return line.empty() ? text : text + line + "\n";
}

}  // namespace dist::trace
