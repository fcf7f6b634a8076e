#include "drawing/pipeline_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "drawing/round_step.h"
#include "drawing/text_line.h"

namespace dist::pipeline {
namespace {

constexpr int least_width = 40, most_parts = 8;
constexpr int widest = 6;  // columns of the shortest computation

struct Cell {              // of one rank's row
  int begin = 0, end = 0;  // columns of the whole timeline
  const Action* action = nullptr;
};

std::string rank_label(std::size_t rank) { return fmt::format("rank {}  ", rank); }

class TimelineText {
 public:
  TimelineText(const Timeline& timeline, const Shape& shape, const TextOptions& options)
      : timeline_(timeline), shape_(shape), options_(options) {
    indent_ = static_cast<int>(rank_label(timeline.ranks.size() - 1).size());
    columns_ = std::max(options.width, least_width) - indent_;
    choose_scale();
    for (const auto& rank : timeline.ranks) {
      auto& row = rows_.emplace_back();
      for (const TimedAction& each : rank)
        row.push_back({column_of(each.begin), column_of(each.end), &each.action});
    }
  }

  std::string draw() const {
    std::string text;
    const int all = column_of(timeline_.total), parts = (all + columns_ - 1) / columns_;
    for (int part = 0; part < parts; ++part) {  // of equal length
      const int begin = all * part / parts, end = all * (part + 1) / parts;
      text += fmt::format("{}{}\n", part == 0 ? "" : "\n", axis(begin, end));
      for (std::size_t rank = 0; rank < rows_.size(); ++rank)
        text += fmt::format("{:<{}}{}\n", rank_label(rank), indent_, row(rank, begin, end));
    }
    return text + "\n" + legend();
  }

 private:
  int column_of(double time) const { return static_cast<int>(std::lround(time * scale_)); }

  std::string legend() const {
    bool splits = false;
    for (const auto& rank : timeline_.ranks)
      for (const TimedAction& each : rank) splits |= each.action.kind == ActionKind::backward_weight;
    return fmt::format("F: forward, B: backward{}; dots: the rank waits\n{}",
                       splits ? " for input gradients, W: for weight gradients" : "",
                       is_compressed_       ? "compressed: not every action has a column\n"
                       : is_letter_         ? ""
                       : !is_full_          ? "numbers of micro-batches: the last digit\n"
                       : shape_.chunks == 1 ? ""
                                            : "a, b, ...: the rank's first chunk, its second, ...\n");
  }

  // The time of the shortest computation that takes any.
  double shortest() const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& rank : timeline_.ranks)
      for (const TimedAction& each : rank)
        if (each.end > each.begin) least = std::min(least, each.end - each.begin);
    return least;
  }

  // The first of these that fits: cells with room between them, full cells in up to four parts, narrow ones
  // in up to eight.
  void choose_scale() {
    int longest = 0;
    for (const auto& rank : timeline_.ranks)
      for (const TimedAction& each : rank)
        longest = std::max(longest, static_cast<int>(short_text(each.action, shape_).size()));
    struct Attempt {
      int cell, parts;
    };
    std::vector<Attempt> attempts;
    for (int cell = std::max(widest, longest); cell >= longest; --cell) attempts.push_back({cell, 1});
    for (const Attempt& wrapped : {Attempt{longest, 4}, Attempt{2, most_parts}, Attempt{1, most_parts}})
      attempts.push_back(wrapped);
    const double least = shortest();
    for (const auto [cell, parts] : attempts) {
      scale_ = cell / least;
      is_full_ = cell >= longest;
      is_letter_ = cell == 1;
      if (timeline_.total * scale_ <= columns_ * parts) return;
    }
    scale_ = columns_ / timeline_.total;
    is_compressed_ = is_letter_ = true;
  }

  // As much of "F12b" as all cells have room for.
  std::string label(const Action& action) const {
    std::string full = short_text(action, shape_);
    if (is_full_) return full;
    return is_letter_ ? full.substr(0, 1) : fmt::format("{}{}", full[0], action.micro_batch % 10);
  }

  // Times, at least ten columns apart, at round numbers.
  std::string axis(int begin, int end) const {
    const double step = round_step(10 / scale_);
    trace::TextLine line(indent_ + end - begin + 12);
    for (double time = std::ceil(begin / scale_ / step) * step; column_of(time) < std::max(end, 1);
         time += step)
      line.put(indent_ + column_of(time) - begin, fmt::format("{:.4g}", time));
    const auto most = static_cast<std::size_t>(indent_) + static_cast<std::size_t>(columns_);
    return line.str().substr(0, most);
  }

  // The columns [begin, end) of a rank's row.
  std::string row(std::size_t rank, int begin, int end) const {
    std::string text;
    int column = begin;
    for (const auto& [from, to, action] : rows_[rank]) {
      const int first = std::max(from, column), last = std::min(to, end);
      if (first >= last) continue;
      text += std::string(static_cast<std::size_t>(first - column), '.');
      // A cell that is cut has its label, or as much of it as fits, in the first part.
      std::string cell = first == from ? label(*action) : "";
      cell.resize(static_cast<std::size_t>(last - first), first == from ? ' ' : '-');
      text += options_.colour ? options_.colour(action->kind, cell) : cell;
      column = last;
    }
    text += std::string(static_cast<std::size_t>(std::max(0, end - column)), '.');
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  const Timeline& timeline_;
  const Shape& shape_;
  const TextOptions& options_;
  int indent_ = 0, columns_ = 0;
  double scale_ = 1;  // columns per unit of time
  bool is_full_ = true, is_letter_ = false, is_compressed_ = false;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace

std::string timeline_text(const Timeline& timeline, const Shape& shape, const TextOptions& options) {
  return TimelineText(timeline, shape, options).draw();
}

std::string actions_text(const Schedule& schedule, int width) {
  const std::string::size_type indent = rank_label(schedule.ranks.size() - 1).size();
  std::string text;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const auto& actions = schedule.ranks[rank];
    std::string line = fmt::format("{:<{}}", rank_label(rank), indent);
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const bool message = is_message(actions[i].kind);
      const bool opens = message && (i == 0 || !is_message(actions[i - 1].kind));
      const bool closes = message && (i + 1 == actions.size() || !is_message(actions[i + 1].kind));
      const std::string word =
          fmt::format("{}{}{}", opens ? "[" : "", short_text(actions[i], schedule.shape), closes ? "]" : "");
      if (line.size() > indent && line.size() + 1 + word.size() > static_cast<std::size_t>(width)) {
        text += line + "\n";
        line = std::string(indent, ' ');
      }
      line += (line.size() > indent ? " " : "") + word;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace dist::pipeline
