#include "distlab/bench/collective.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "dist/core/fail.h"

namespace distlab::bench {
namespace {

struct Info {
  Collective collective;
  std::string_view name;
  dist::OpKind kind;
  bool reduces, has_root;
  bool is_shared;  // the size is that of n parts
  bool out_of_place, in_place;
};

// The order is that of the enum.
constexpr std::array table{
    Info{Collective::all_reduce, "all_reduce", dist::OpKind::all_reduce, true, false, false, false, true},
    Info{Collective::broadcast, "broadcast", dist::OpKind::broadcast, false, true, false, false, true},
    Info{Collective::reduce, "reduce", dist::OpKind::reduce, true, true, false, false, true},
    Info{Collective::all_gather, "all_gather", dist::OpKind::all_gather, false, false, true, true, true},
    Info{Collective::reduce_scatter, "reduce_scatter", dist::OpKind::reduce_scatter, true, false, true, true,
         true},
    Info{Collective::all_to_all, "all_to_all", dist::OpKind::all_to_all, false, false, true, true, false},
    Info{Collective::scatter, "scatter", dist::OpKind::scatter, false, true, true, true, true},
    Info{Collective::gather, "gather", dist::OpKind::gather, false, true, true, true, true},
    Info{Collective::barrier, "barrier", dist::OpKind::barrier, false, false, false, true, false},
    Info{Collective::send_recv, "send_recv", dist::OpKind::send, false, false, false, true, false},
};

const Info& info(Collective collective) { return table[static_cast<std::size_t>(collective)]; }

}  // namespace

std::string_view name(Collective collective) { return info(collective).name; }

std::string_view name(Form form) {
  switch (form) {
    case Form::out_of_place: return "out of place";
    case Form::in_place: return "in place";
  }
  __builtin_unreachable();
}

Collective collective_named(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Info& each : table) {
    if (each.name == text) return each.collective;
    names.push_back(each.name);
  }
  dist::fail(dist::Errc::invalid_argument, "bench has no collective \"{}\"; choose one of {}", text,
             fmt::join(names, ", "));
}

dist::OpKind kind_of(Collective collective) { return info(collective).kind; }
bool reduces(Collective collective) { return info(collective).reduces; }
bool has_root(Collective collective) { return info(collective).has_root; }
bool has_data(Collective collective) { return collective != Collective::barrier; }
bool meets(Collective collective) { return !has_root(collective); }  // with a root, calls may overlap

std::vector<Form> forms(Collective collective) {
  std::vector<Form> result;
  if (info(collective).out_of_place) result.push_back(Form::out_of_place);
  if (info(collective).in_place) result.push_back(Form::in_place);
  return result;
}

int shares(Collective collective, int ranks) { return info(collective).is_shared ? ranks : 1; }

Elements elements(Collective collective, std::int64_t count, int ranks, bool is_root) {
  const std::int64_t whole = count * ranks;
  switch (collective) {
    case Collective::all_reduce:
    case Collective::broadcast:
    case Collective::reduce: return {0, count};
    case Collective::all_gather: return {count, whole};
    case Collective::reduce_scatter: return {whole, count};
    case Collective::all_to_all: return {whole, whole};
    case Collective::scatter: return {is_root ? whole : 0, count};
    case Collective::gather: return {count, is_root ? whole : 0};
    case Collective::barrier: return {0, 0};
    case Collective::send_recv: return {count, count};
  }
  __builtin_unreachable();
}

std::vector<std::int64_t> sizes(const SizeRange& range, std::int64_t unit) {
  if (unit == 0) return {0};
  std::vector<std::int64_t> result;
  for (std::int64_t size = std::max<std::int64_t>(range.first, 1);; size *= range.factor) {
    const std::int64_t fitting = std::max(unit, size / unit * unit);
    if (result.empty() || result.back() != fitting) result.push_back(fitting);
    if (size > range.last / range.factor) return result;
  }
}

double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce: return 2 * (n - 1) / n;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::scatter:
    case Collective::gather: return (n - 1) / n;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::barrier:
    case Collective::send_recv: return 1;
  }
  __builtin_unreachable();
}

double least_traffic(Collective collective, Form form, int ranks) {
  const double n = ranks;
  const bool stays = form == Form::in_place;  // a rank's own part is already in its place
  switch (collective) {
    case Collective::all_reduce: return n > 1 ? 2 * n : 0;  // all are read, all are written
    case Collective::broadcast: return n > 1 ? n : 0;       // the root's is read, the others' written
    case Collective::reduce: return n + 1;                  // all are read, the root's is written
    case Collective::all_gather: return stays ? n : n + 1;  // S/n read from each, S written to each
    case Collective::reduce_scatter: return n + 1;          // S read from each, S/n written to each
    case Collective::all_to_all: return 2 * n;              // each reads S and writes S
    case Collective::scatter:
    case Collective::gather: return stays ? 2 * (n - 1) / n : 2;  // each part is read once, written once
    case Collective::barrier: return 0;
    case Collective::send_recv: return 2 * (ranks / 2);  // in each pair S is read and written
  }
  __builtin_unreachable();
}

}  // namespace distlab::bench
