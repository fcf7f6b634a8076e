#include "drawing/ascii.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/trace/readable.h"

#include "drawing/diagram.h"
#include "drawing/glyphs.h"
#include "drawing/legend.h"
#include "drawing/mark_text.h"
#include "drawing/row_lines.h"
#include "drawing/text_line.h"

namespace dist::trace {
namespace {

constexpr int time_columns = 12;  // "123.456 us" and two blanks
constexpr int least_width = 40;
constexpr int narrowest = 8, widest = 24;  // columns of a rank: "┏ gather", "{0,1,3} 128.5 KiB"
constexpr int fractions_below = 12;        // with fewer columns per rank, 4/8 replaces sets like {0,2,3,5}

class Drawing {
 public:
  Drawing(const Trace& trace, const AsciiOptions& options)
      : trace_(trace),
        unicode_(options.unicode),
        glyphs_(options.unicode ? unicode_glyphs : ascii_glyphs),
        width_(std::max(options.width, least_width)),
        shown_(std::clamp(trace.ranks, 0, (width_ - time_columns) / narrowest)),
        pitch_(std::min((width_ - time_columns) / std::max(shown_, 1), widest)),
        diagram_(make_diagram(trace, shown_, options.max_rows)),
        open_calls_(static_cast<std::size_t>(shown_), 0),
        legend_(glyphs_, pitch_ < fractions_below) {
    choose_unit();
  }

  std::string draw() {
    if (!trace_.title.empty()) add_line(trace_.title);
    if (trace_.events.empty()) {
      add_line(fmt::format("this trace of {} has no events", dist::counted(trace_.ranks, "rank")));
      return std::move(out_);
    }
    add_remarks();
    out_ += '\n';
    TextLine head(width_);
    for (int rank = 0; rank < shown_; ++rank) head.put(column_of(rank), fmt::format("rank {}", rank));
    out_ += head.str() + "\n";
    for (std::size_t i = 0; i < diagram_.rows.size(); ++i) add_row(i);
    out_ +=
        fmt::format("\ntotal {} of {} time\n", readable_time(end_), trace_.virtual_time ? "virtual" : "real");
    return out_ + legend_.str(width_);
  }

 private:
  int column_of(int rank) const { return time_columns + rank * pitch_; }

  void add_line(std::string_view text) {
    out_ += shortened(displayable(text, unicode_), width_, glyphs_.ellipsis) + "\n";
  }

  // Adds ASCII text of short words in as many lines as it needs.
  void add_remark(std::string text) {
    while (text.size() > static_cast<std::size_t>(width_)) {
      const auto blank = text.rfind(' ', static_cast<std::size_t>(width_));
      add_line(text.substr(0, blank));
      text.erase(0, blank + 1);
    }
    add_line(text);
  }

  void add_remarks() {
    const auto& rows = diagram_.rows;
    if (shown_ < trace_.ranks)
      add_remark(fmt::format("{} of {} ranks; the terminal is too narrow for the other {}", shown_,
                             trace_.ranks, trace_.ranks - shown_));
    if (rows.size() < diagram_.moments)
      add_remark(fmt::format("{} in {}: a row shows several moments",
                             dist::counted(diagram_.moments, "moment"), dist::counted(rows.size(), "row")));
  }

  // All rows have one unit, with the fewest decimals that distinguish them and whose rounding is at most a
  // hundredth of the whole time.
  void choose_unit() {
    for (const Event& event : trace_.events) end_ = std::max(end_, event.end);
    unit_ = unit_for(end_);
    const auto equal = [this](const Row& a, const Row& b) {
      return in_unit(a.first, unit_, decimals_) == in_unit(b.first, unit_, decimals_);
    };
    std::int64_t step = unit_.picoseconds;
    const auto coarse = [&](const Row& row) {
      const std::int64_t above = row.first % step;
      return std::min(above, step - above) > end_ / 100;
    };
    const auto& rows = diagram_.rows;
    for (; decimals_ < 3; ++decimals_, step = std::max<std::int64_t>(step / 10, 1)) {
      if (std::ranges::adjacent_find(rows, equal) == rows.end() && std::ranges::none_of(rows, coarse)) return;
    }
  }

  // Adds the lines of a row's marks, then one for the time until the next row.
  void add_row(std::size_t i) {
    const Row& row = diagram_.rows[i];
    const auto lines = lines_of(row, shown_);
    const int count = lines.empty() ? 0 : 1 + *std::ranges::max_element(lines);
    for (int line = 0; line < count; ++line) {
      TextLine canvas(width_);
      // A wait or computation that ends or begins in this row does not fill the row.
      for (int rank = 0; rank < shown_; ++rank)
        canvas.put(column_of(rank), life(rank, row.first - 1, row.last + 1));
      if (line == 0) add_time(canvas, row);
      for (std::size_t m = 0; m < lines.size(); ++m) {
        if (lines[m] == line) add_mark(canvas, row.marks[m]);
      }
      out_ += canvas.str() + "\n";
    }
    if (i + 1 < diagram_.rows.size())
      add_interval(row, diagram_.rows[i + 1].first);
    else if (count == 0)
      add_interval(row, row.last + 1);
  }

  void add_time(TextLine& canvas, const Row& row) const {
    canvas.put(0, fmt::format("{:>{}}", in_unit(row.first, unit_, decimals_), time_columns - 2));
  }

  void add_interval(const Row& row, std::int64_t next) {
    TextLine canvas(width_);
    if (row.marks.empty()) add_time(canvas, row);
    for (int rank = 0; rank < shown_; ++rank) {
      canvas.put(column_of(rank), life(rank, row.last, next));
      const Event* state = state_of(rank, row.last, next);
      if (!state) continue;
      legend_.add_state(*state);
      if (state->begin >= row.first) add_words(canvas, rank, texts_of_state(*state));
    }
    out_ += canvas.str() + "\n";
  }

  // Returns the wait, or else the computation, that fills this time including both ends.
  const Event* state_of(int rank, std::int64_t begin, std::int64_t end) const {
    const Event* found = nullptr;
    for (const Event* event : diagram_.states[static_cast<std::size_t>(rank)]) {
      const bool fills = event->begin <= begin && end <= event->end;
      if (fills && (!found || event->kind == Kind::wait)) found = event;
    }
    return found;
  }

  bool in_call(int rank) const { return open_calls_[static_cast<std::size_t>(rank)] > 0; }

  std::string_view life(int rank, std::int64_t begin, std::int64_t end) const {
    if (const Event* state = state_of(rank, begin, end))
      return state->kind == Kind::wait ? glyphs_.waits : glyphs_.computes;
    return in_call(rank) ? glyphs_.busy : glyphs_.idle;
  }

  void add_mark(TextLine& canvas, const Mark& mark) {
    legend_.add(mark);
    if (mark.kind == MarkKind::arrow) return add_arrow(canvas, mark);
    canvas.put(column_of(mark.rank), sign_of(mark));
    add_words(canvas, mark.rank, texts_of(mark, trace_.ranks));
  }

  // The beginning and the end of a call change how its rank's line is drawn from here on.
  std::string_view sign_of(const Mark& mark) {
    int& open = open_calls_[static_cast<std::size_t>(mark.rank)];
    switch (mark.kind) {
      case MarkKind::call_begin:
        open += mark.count;
        return open == mark.count ? glyphs_.call_begin : glyphs_.call_inside;
      case MarkKind::call_end: open -= mark.count; return open == 0 ? glyphs_.call_end : glyphs_.call_inside;
      case MarkKind::departure: return glyphs_.departure;
      case MarkKind::lost: return glyphs_.lost;
      case MarkKind::reduced: return glyphs_.reduced;
      case MarkKind::shared: return glyphs_.shared;
      case MarkKind::arrival:
      case MarkKind::arrow: return glyphs_.arrival;
    }
    __builtin_unreachable();
  }

  void add_arrow(TextLine& canvas, const Mark& mark) {
    const int from = column_of(mark.peer), to = column_of(mark.rank);
    const int step = from < to ? 1 : -1;
    canvas.put(from, in_call(mark.peer) ? (step > 0 ? glyphs_.right_busy : glyphs_.left_busy)
                                        : (step > 0 ? glyphs_.right_idle : glyphs_.left_idle));
    for (int column = from + step; column != to; column += step) canvas.put(column, glyphs_.dash);
    for (int rank = std::min(mark.peer, mark.rank) + 1; rank < std::max(mark.peer, mark.rank); ++rank)
      canvas.put(column_of(rank), in_call(rank) ? glyphs_.cross_busy : glyphs_.cross_idle);
    canvas.put(to - step, step > 0 ? glyphs_.to_right : glyphs_.to_left);
    add_label(canvas, mark, step > 0 ? mark.peer : mark.peer - 1);
  }

  // The label is in the middle of the gap between ranks `left` and `left + 1`, next to the sender. A dash
  // stays on either side of it, and a blank if there is room.
  void add_label(TextLine& canvas, const Mark& mark, int left) {
    const int gap = pitch_ - 2;  // the arrow's head needs the rest
    std::string text = fitting(texts_of(mark, trace_.ranks), gap - 2);
    if (text.empty()) return;
    if (columns_of(text) + 4 <= gap) text = " " + text + " ";
    const int blank_for_head = mark.rank < mark.peer ? 1 : 0;
    canvas.put(column_of(left) + 1 + blank_for_head + (gap - columns_of(text)) / 2, text);
  }

  // The columns for a text that begins two columns to the right of its rank's line.
  int room() const { return pitch_ - 3; }

  // Returns the first of the texts that fits, or an empty text when none does.
  std::string fitting(const std::vector<std::string>& texts, int columns) const {
    for (const auto& text : texts) {
      std::string shown = displayable(text, unicode_);
      if (columns_of(shown) <= columns) return shown;
    }
    return {};
  }

  // Adds the first of the texts that fits, or the beginning of the shortest.
  void add_words(TextLine& canvas, int rank, const std::vector<std::string>& texts) const {
    std::string words = fitting(texts, room());
    if (words.empty() && !texts.empty())
      words = shortened(displayable(texts.back(), unicode_), room(), glyphs_.ellipsis);
    canvas.put(column_of(rank) + 2, words);
  }

  const Trace& trace_;
  const bool unicode_;
  const Glyphs& glyphs_;
  const int width_, shown_, pitch_;
  Diagram diagram_;
  std::vector<int> open_calls_;  // of each rank, at the current line
  Legend legend_;
  std::int64_t end_ = 0;
  TimeUnit unit_;
  int decimals_ = 0;
  std::string out_;
};

}  // namespace

std::string to_ascii(const Trace& trace, const AsciiOptions& options) {
  return Drawing(trace, options).draw();
}

}  // namespace dist::trace
