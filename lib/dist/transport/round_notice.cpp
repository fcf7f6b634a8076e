// What a notice says (shared_area.h): written by its owner, read by the others.
#include <algorithm>
#include <cstring>

#include "dist/core/view_list.h"
#include "dist/transport/own_ahead.h"
#include "dist/transport/round.h"

namespace dist {

using net::Notice;

namespace {

// Of a room: more lines than a core asks for at a time would hold up what it does meanwhile.
constexpr std::size_t most_owned_ahead = 1024;

std::size_t table_bytes(std::size_t parts) {
  constexpr std::size_t line = 64;
  return parts == 1 ? 0 : (parts * sizeof(net::PartPlace) + line - 1) / line * line;
}

net::PartPlace* table_in(std::byte* room) { return reinterpret_cast<net::PartPlace*>(room); }

}  // namespace

bool Round::fits(std::size_t bytes, std::size_t parts) {
  return table_bytes(parts) + bytes <= net::shown_bytes;
}

bool Round::is_short(std::size_t bytes, std::size_t parts) const {
  return bytes <= peers_.setup_.short_bytes && fits(bytes, parts);
}

Notice& Round::begin_notice(net::Showing showing, std::size_t parts) {
  net::RoundFlags& flags = peers_.mine().flags;
  // Read by those who have seen the notice. Written only where windows were used before: the others look at
  // this cache line.
  for (auto* count : {&flags.filled, &flags.worked})
    if (count->load(std::memory_order_relaxed) != 0) count->store(0, std::memory_order_relaxed);
  Notice& notice = peers_.mine().notice(peers_.round_);
  notice.opcode = terms_.opcode;
  notice.detail = terms_.detail;
  notice.showing = showing;
  notice.parts = static_cast<std::uint32_t>(parts);
  return notice;
}

void Round::post(Notice& notice) {
  peers_.seen_[static_cast<std::size_t>(rank())] = peers_.round_;
  peers_.tell(notice.round, peers_.round_);
  net::own_ahead(peers_.mine().notice(peers_.round_ + 1));
}

void Round::attend() { post(begin_notice(net::Showing::nothing, 0)); }

void Round::show(std::span<const TensorView> parts) {
  if (parts.size() == 1 && parts[0].bytes() <= net::in_line_bytes) {
    Notice& notice = begin_notice(net::Showing::in_line, 1);
    notice.bytes = parts[0].bytes();
    if (parts[0].count > 0) std::memcpy(notice.data, parts[0].data, parts[0].bytes());
    return post(notice);
  }
  Notice& notice = begin_notice(net::Showing::copy, parts.size());
  notice.bytes = total_bytes(parts);
  std::byte* const room = peers_.mine().room(peers_.round_);
  std::size_t at = table_bytes(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts.size() > 1) table_in(room)[i] = {at, parts[i].bytes()};
    if (parts[i].count > 0) std::memcpy(room + at, parts[i].data, parts[i].bytes());
    at += parts[i].bytes();
  }
  post(notice);
  net::own_ahead(peers_.mine().room(peers_.round_ + 1), std::min(at, most_owned_ahead));  // most likely
}

void Round::expose(std::span<const TensorView> parts, int to) {
  const bool mapped =
      size() == 1 || std::ranges::all_of(parts, [&](const TensorView& part) { return peers_.maps(part); });
  std::byte* const windows = mapped ? nullptr : peers_.windows();
  Notice& notice = begin_notice(mapped ? net::Showing::memory : net::Showing::windows, parts.size());
  auto* const table = table_in(parts.size() == 1 ? notice.data : peers_.mine().room(peers_.round_));
  for (std::size_t i = 0; i < parts.size(); ++i)
    table[i] = {reinterpret_cast<std::uint64_t>(mapped ? parts[i].data : windows), parts[i].bytes()};
  exposes_ = true;
  exposed_to_ = to;
  post(notice);
  net::own_ahead(peers_.mine().flags.done);
}

// In this process's memory.
net::PartPlace Round::place_of(int rank, Notice& notice, int part) {
  std::byte* const room = peers_.peer(rank).area->room(peers_.round_);
  const bool has_table = notice.parts > 1;
  const auto in_room = [&](std::uint64_t offset) { return reinterpret_cast<std::uint64_t>(room) + offset; };
  switch (notice.showing) {
    case net::Showing::nothing: return {};
    case net::Showing::in_line: return {reinterpret_cast<std::uint64_t>(notice.data), notice.bytes};
    case net::Showing::copy: {
      if (!has_table) return {in_room(0), notice.bytes};
      const net::PartPlace place = table_in(room)[part];
      return {in_room(place.at), place.bytes};
    }
    case net::Showing::memory:
    case net::Showing::windows: {
      const net::PartPlace place = has_table ? table_in(room)[part] : *table_in(notice.data);
      return {place.at + static_cast<std::uint64_t>(peers_.peer(rank).shift), place.bytes};
    }
  }
  __builtin_unreachable();
}

}  // namespace dist
