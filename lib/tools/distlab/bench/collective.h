// The collectives that bench measures, each with the conventions of NVIDIA's nccl-tests (README.md).
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
  send_recv  // ping-pong between ranks 0 and 1, 2 and 3, ...; its time is that of one message
};

// Whether a call's result has a buffer of its own, or replaces the input.
enum class Form : std::uint8_t { out_of_place, in_place };

std::string_view name(Collective collective);  // "all_reduce"
std::string_view name(Form form);              // "in place"
// Throws dist::Error{invalid_argument} that lists the names.
Collective collective_named(std::string_view text);
dist::OpKind kind_of(Collective collective);  // send_recv: send

bool reduces(Collective collective);
bool has_root(Collective collective);
bool has_data(Collective collective);  // all but barrier
bool meets(Collective collective);     // true if no call ends before each rank has heard from another
// Returns the forms that distlab's interface has, in the order of the table's columns.
std::vector<Form> forms(Collective collective);

// Returns into how many equal parts the size is cut: n if each rank has a part (all_gather, scatter, ...),
// else 1.
int shares(Collective collective, int ranks);

// The elements of this rank's buffers; `count` is the number per part. A call in place has its input inside
// `out`, or its output inside `in`, whichever is longer.
struct Elements {
  std::int64_t in = 0, out = 0;
};
Elements elements(Collective collective, std::int64_t count, int ranks, bool is_root);

// The sizes in bytes from `first` to `last`, each `factor` times the one before. Each is a multiple of `unit`
// (a part of one element for every rank), and each occurs once. A barrier has only the size 0.
struct SizeRange {
  std::int64_t first = 4, last = 4;
  int factor = 2;
};
std::vector<std::int64_t> sizes(const SizeRange& range, std::int64_t unit);

// busbw = algbw * bus_factor, which makes the figure comparable with the hardware for any n.
double bus_factor(Collective collective, int ranks);
// Returns the bytes that all ranks together must read from and write to memory per byte of the size; 0 for a
// barrier.
double least_traffic(Collective collective, Form form, int ranks);

}  // namespace distlab::bench
