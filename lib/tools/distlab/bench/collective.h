// The collectives that bench measures, with the conventions of NVIDIA's nccl-tests for each (README.md).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dist/core/op_kind.h"

namespace distlab::bench {

enum class Collective : std::uint8_t {
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  scatter,
  gather,
  barrier,
  send_recv  // ping-pong between ranks 0 and 1, 2 and 3, ...: the time of one way
};

// Where a call's result lies: in a buffer of its own, or where its input was.
enum class Form : std::uint8_t { out_of_place, in_place };

std::string_view name(Collective collective);  // "all_reduce"
std::string_view name(Form form);              // "in place"
// dist::Error{invalid_argument} lists the names.
Collective collective_named(std::string_view text);
dist::OpKind kind_of(Collective collective);  // send_recv: send

bool reduces(Collective collective);
bool has_root(Collective collective);
bool has_data(Collective collective);  // all but barrier
bool meets(Collective collective);     // no call ends before each rank has heard from another
// The forms that the interface of distlab has, in the order of the table's columns.
std::vector<Form> forms(Collective collective);

// Into how many equal shares the size is cut: n where a rank has a share (all_gather, scatter, ...), else 1.
int shares(Collective collective, int ranks);

// Elements of this rank's buffers; `count` is a share. A call in place has its input inside `out`, or its
// output inside `in`, whichever is longer.
struct Elements {
  std::int64_t in = 0, out = 0;
};
Elements elements(Collective collective, std::int64_t count, int ranks, bool is_root);

// The sizes in bytes from `first` to `last`, each `factor` times the one before; each is a multiple of
// `unit` (a share of one element for every rank), and none comes twice. barrier: 0 alone.
struct SizeRange {
  std::int64_t first = 4, last = 4;
  int factor = 2;
};
std::vector<std::int64_t> sizes(const SizeRange& range, std::int64_t unit);

// busbw = algbw * bus_factor: with it figures are those of the hardware, whatever n is.
double bus_factor(Collective collective, int ranks);
// Bytes that have to be read from and written to the ranks' memory for each byte of the size, all ranks
// together; 0 for a barrier.
double least_traffic(Collective collective, Form form, int ranks);

}  // namespace distlab::bench
