#include "drawing/diagram.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "dist/trace/messages.h"

namespace dist::trace {
namespace {

class DiagramMaker {
 public:
  DiagramMaker(const Trace& trace, int ranks) : ranks_(ranks) {
    diagram_.states.resize(static_cast<std::size_t>(ranks));
    for (const Message& message : messages(trace)) add_message(message);
    for (const Event& event : trace.events) {
      if (is_shown(event.rank)) add_event(event);
    }
    // Marks of one moment: causes come before effects, and short arrows before long ones, so that a long
    // arrow does not take a short one's line.
    std::ranges::stable_sort(marks_, {}, [](const Mark& mark) {
      const bool took_no_time = mark.kind == MarkKind::call_end && mark.event->begin == mark.event->end;
      const int reach = mark.kind == MarkKind::arrow ? std::abs(mark.rank - mark.peer) : 0;
      return std::tuple(mark.time, took_no_time, mark.kind, reach, std::min(mark.rank, mark.peer));
    });
  }

  Diagram make(int max_rows) {
    for (const Mark& mark : marks_) times_.push_back(mark.time);
    std::ranges::sort(times_);
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    diagram_.moments = times_.size();
    const std::size_t most = static_cast<std::size_t>(std::max(max_rows, 1));
    const std::size_t together = std::max<std::size_t>((times_.size() + most - 1) / most, 1);
    auto mark = marks_.begin();
    for (std::size_t i = 0; i < times_.size(); i += together) {
      Row row{times_[i], times_[std::min(i + together, times_.size()) - 1], {}};
      for (; mark != marks_.end() && mark->time <= row.last; ++mark) add_mark(row, *mark);
      diagram_.rows.push_back(std::move(row));
    }
    return std::move(diagram_);
  }

 private:
  bool is_shown(int rank) const { return rank >= 0 && rank < ranks_; }

  void mark(MarkKind kind, const Event& event, std::int64_t time, const Message* message = nullptr) {
    marks_.push_back({kind, event.rank, event.peer, time, &event,
                      message ? message->contributors() : event.contributors, event.bytes, 1});
  }

  void add_message(const Message& message) {
    const auto [send, receive] = std::pair(message.send, message.receive);
    const bool both = send && receive;
    const bool at_once = both && send->begin == receive->end;
    if (send && is_shown(send->rank) && !at_once)
      mark(receive ? MarkKind::departure : MarkKind::lost, *send, send->begin, &message);
    if (!receive || !is_shown(receive->rank)) return;
    const bool drawn = both && is_shown(send->rank) && send->rank != receive->rank;
    mark(drawn ? MarkKind::arrow : MarkKind::arrival, *receive, receive->end, &message);
    marks_.back().peer = message.source();
  }

  void add_event(const Event& event) {
    switch (event.kind) {
      case Kind::call:
        mark(MarkKind::call_begin, event, event.begin);
        if (event.in_shared_memory) mark(MarkKind::shared, event, event.begin);
        mark(MarkKind::call_end, event, event.end);
        break;
      case Kind::reduce: mark(MarkKind::reduced, event, event.end); break;
      case Kind::wait:
      case Kind::compute:
        if (event.begin == event.end) break;
        times_.insert(times_.end(), {event.begin, event.end});
        diagram_.states[static_cast<std::size_t>(event.rank)].push_back(&event);
        break;
      case Kind::send:
      case Kind::receive: break;  // add_message() has added them
    }
  }

  // In a row of several moments, equal marks become one.
  static void add_mark(Row& row, const Mark& mark) {
    const auto alike = [&](const Mark& other) {
      return other.kind == mark.kind && other.rank == mark.rank && other.peer == mark.peer &&
             other.event->ending == mark.event->ending;
    };
    const auto same = std::ranges::find_if(row.marks, alike);
    if (row.first == row.last || same == row.marks.end()) {
      row.marks.push_back(mark);
    } else {
      ++same->count;
      same->bytes += mark.bytes;
    }
  }

  const int ranks_;
  std::vector<Mark> marks_;
  std::vector<std::int64_t> times_;
  Diagram diagram_;
};

}  // namespace

Diagram make_diagram(const Trace& trace, int ranks, int max_rows) {
  return DiagramMaker(trace, ranks).make(max_rows);
}

}  // namespace dist::trace
