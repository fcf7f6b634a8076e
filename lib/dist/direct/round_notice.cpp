// What a notice says (shared_area.h): written by its owner, read by the other ranks. begin_notice() and
// post() frame what publish_copy() (a copy, in the notice or in a room), publish_in_place() (places of memory
// or buffers) and publish_nothing() (nothing) publish; place_of() finds a part again, on the reader's side.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "dist/core/round_up.h"
#include "dist/core/view_list.h"
#include "dist/direct/round.h"
#include "dist/transport/link/prefetch_for_write.h"

namespace dist {

using direct::Notice;

namespace {

// How much of a room is prefetched for writing: more lines than a core requests at a time would delay its
// next work.
constexpr std::size_t most_owned_ahead = 1024;

std::size_t table_bytes(std::size_t parts) { return parts * sizeof(direct::PartPlace); }

// The table's size in front of a copy in a bounce buffer: the data begins on a new cache line.
std::size_t table_in_lines(std::size_t parts) {
  constexpr std::size_t line = 64;
  return parts == 1 ? 0 : round_up(table_bytes(parts), line);
}

bool are_equally_long(std::span<const TensorView> parts) {
  return std::ranges::all_of(parts, [&](const TensorView& part) { return part.bytes() == parts[0].bytes(); });
}

// Where the table with the places of exposed memory is.
template <class Room>
std::byte* place_of_table(Notice& notice, const Room& room) {
  return table_bytes(notice.parts) <= direct::in_line_bytes ? notice.data : room();
}

direct::PartPlace* table_in(std::byte* room) { return reinterpret_cast<direct::PartPlace*>(room); }

}  // namespace

bool Round::fits(std::size_t bytes, std::size_t parts) {
  return table_in_lines(parts) + bytes <= direct::room_bytes;
}

bool Round::is_short(std::size_t bytes, std::size_t parts) const {
  return bytes <= peers_.setup_.short_bytes && fits(bytes, parts);
}

bool Round::is_short_for_root(std::size_t bytes) const {
  return is_short(bytes) && (static_cast<std::size_t>(size()) - 1) * bytes <= peers_.setup_.root_reads;
}

std::byte* Round::own_room() {
  if (peers_.round_ > peers_.rooms_until_) peers_.rooms_until_ = reusable_until(direct::room_depth);
  return peers_.mine().room(peers_.round_);
}

Notice& Round::begin_notice(direct::Published published, std::size_t parts) {
  direct::RoundFlags& flags = peers_.mine().flags;
  // These are read by ranks that have seen the notice. They are written only where buffers were used before,
  // because the other ranks read this cache line in every round.
  for (auto* count : {&flags.filled, &flags.worked})
    if (count->load(std::memory_order_relaxed) != 0) count->store(0, std::memory_order_relaxed);
  Notice& notice = peers_.mine().notice(peers_.round_);
  notice.opcode = terms_.opcode;
  notice.before = peers_.before_;
  notice.published = published;
  notice.parts = static_cast<std::uint32_t>(parts);
  return notice;
}

void Round::post(Notice& notice, std::size_t data_in_line) {
  peers_.seen_[static_cast<std::size_t>(rank())] = peers_.round_;
  peers_.tell(notice.round, peers_.round_);
  auto* const next = reinterpret_cast<std::byte*>(&peers_.mine().notice(peers_.round_ + 1));
  net::prefetch_for_write(next, offsetof(Notice, data) + data_in_line);  // most likely as much as this time
}

void Round::publish_nothing() {
  only_reads_ = true;
  post(begin_notice(direct::Published::nothing, 0));
}

void Round::publish_copy(std::span<const TensorView> parts) {
  const auto is_for_others = [&](std::size_t i) {
    return parts.size() == 1 || i != static_cast<std::size_t>(rank());
  };
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) bytes += is_for_others(i) ? parts[i].bytes() : 0;
  const bool has_table = !are_equally_long(parts);
  const std::size_t table = has_table ? table_bytes(parts.size()) : 0;
  const bool in_line = table + bytes <= direct::in_line_bytes;
  Notice& notice = begin_notice(in_line ? direct::Published::in_line : direct::Published::copy, parts.size());
  notice.bytes = bytes;
  notice.has_table = has_table;
  std::byte* const room = in_line ? notice.data : own_room();
  std::size_t at = in_line || !has_table ? table : table_in_lines(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (has_table) table_in(room)[i] = {at, parts[i].bytes()};
    if (parts[i].count == 0 || !is_for_others(i)) continue;
    std::memcpy(room + at, parts[i].data, parts[i].bytes());
    at += parts[i].bytes();
  }
  post(notice, in_line ? at : 0);
  if (!in_line)
    net::prefetch_for_write(peers_.mine().room(peers_.round_ + 1),
                            std::min(at, most_owned_ahead));  // most likely as much as this time
}

bool Round::maps(std::span<const TensorView> parts) const {
  return size() == 1 || std::ranges::all_of(parts, [&](const TensorView& part) { return peers_.maps(part); });
}

void Round::publish_in_place(std::span<const TensorView> parts, int to, bool helps) {
  const bool mapped = maps(parts);
  std::byte* const buffers = mapped ? nullptr : peers_.bounce_buffers();
  Notice& notice =
      begin_notice(mapped ? direct::Published::memory : direct::Published::bounced, parts.size());
  notice.helps = helps;
  auto* const table = table_in(place_of_table(notice, [&] { return own_room(); }));
  for (std::size_t i = 0; i < parts.size(); ++i)
    table[i] = {reinterpret_cast<std::uint64_t>(mapped ? parts[i].data : buffers), parts[i].bytes()};
  lends_ = true;
  lent_to_ = to;
  post(notice);
  net::prefetch_for_write(peers_.mine().flags.done);
}

// The result is an address of this process.
direct::PartPlace Round::place_of(int rank, Notice& notice, int part) {
  const auto room = [&] { return peers_.peer(rank).area->room(peers_.round_); };
  switch (notice.published) {
    case direct::Published::nothing: return {};
    case direct::Published::in_line:
    case direct::Published::copy: {
      std::byte* const from = notice.published == direct::Published::in_line ? notice.data : room();
      direct::PartPlace place{0, notice.bytes};
      if (notice.has_table) {
        place = table_in(from)[part];
      } else if (notice.parts > 1) {
        const std::uint64_t bytes = notice.bytes / (notice.parts - 1);
        place = {bytes * place_among_others(part, rank), bytes};
      }
      return {reinterpret_cast<std::uint64_t>(from) + place.at, place.bytes};
    }
    case direct::Published::memory:
    case direct::Published::bounced: {
      const direct::PartPlace place = table_in(place_of_table(notice, room))[part];
      return {place.at + static_cast<std::uint64_t>(peers_.peer(rank).shift), place.bytes};
    }
  }
  __builtin_unreachable();
}

}  // namespace dist
