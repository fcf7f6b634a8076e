#include "drawing/mark_text.h"

#include <bit>

#include <fmt/format.h>

#include "dist/trace/kind.h"
#include "dist/trace/readable.h"

namespace dist::trace {
namespace {

using Texts = std::vector<std::string>;

// The ranks whose parts a message carries, and its size: "{0,1,3} 64 KiB", "{0,1,3}", "3/4".
Texts load_of(const Mark& mark, int ranks) {
  const std::string bytes = readable_bytes(mark.bytes);
  if (mark.count > 1) return {fmt::format("{} x, {}", mark.count, bytes), fmt::format("{} x", mark.count)};
  if (mark.contributors == 0) return mark.bytes != 0 ? Texts{bytes} : Texts{};
  Texts texts{readable_ranks(mark.contributors),
              fmt::format("{}/{}", std::popcount(mark.contributors), ranks)};
  if (mark.bytes != 0) texts.insert(texts.begin(), texts.front() + " " + bytes);
  return texts;
}

Texts peer_texts(const Mark& mark, std::string_view preposition) {
  const std::string peer = fmt::format("{} {}", preposition, mark.peer);
  return mark.count > 1 ? Texts{fmt::format("{}, {} x", peer, mark.count), peer} : Texts{peer};
}

Texts begin_texts(const Mark& mark) {
  if (mark.count > 1) return {fmt::format("{} calls", mark.count)};
  if (mark.event->algorithm.empty()) return {mark.event->name};
  return {mark.event->name + " " + mark.event->algorithm, mark.event->name};
}

Texts end_texts(const Mark& mark) {
  const std::string how(name(mark.event->ending));
  return {mark.count > 1 ? fmt::format("{} {}", mark.count, how) : how};
}

Texts arrival_texts(const Mark& mark, int ranks) {
  Texts texts;
  const std::string peer = fmt::format("from {}", mark.peer);
  for (const auto& load : load_of(mark, ranks)) texts.push_back(peer + " " + load);
  texts.insert(texts.end(), {peer, std::to_string(mark.peer)});
  return texts;
}

}  // namespace

Texts texts_of(const Mark& mark, int ranks) {
  switch (mark.kind) {
    case MarkKind::arrow:
    case MarkKind::reduced: return load_of(mark, ranks);
    case MarkKind::arrival: return arrival_texts(mark, ranks);
    case MarkKind::call_end: return end_texts(mark);
    case MarkKind::call_begin: return begin_texts(mark);
    case MarkKind::shared: return {"shared memory", "shared"};
    case MarkKind::departure:
    case MarkKind::lost: return peer_texts(mark, "to");
  }
  __builtin_unreachable();
}

Texts texts_of_state(const Event& event) {
  const std::string what = event.kind == Kind::wait ? "waits" : event.name.empty() ? "computes" : event.name;
  return {what + " " + readable_time(event.end - event.begin), what};
}

}  // namespace dist::trace
