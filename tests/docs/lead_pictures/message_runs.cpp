// The runs of labs 00 to 08: joining, groups, messages and the first collectives.
#include <memory>

#include "dist/dist.h"
#include "dist/store/memory_store.h"

#include "picture.h"

namespace dist::pictures {
namespace {

using trace::Trace;

// Rank 2 takes longest, and no rank has the sum before it has called all_reduce.
std::vector<Trace> first_sum() {
  return {run(4, "laptop", [](int rank) {
    constexpr double work_s[]{2e-6, 4e-6, 9e-6, 3e-6};
    sim::compute(work_s[rank]);
    Tensor number = full({1}, rank + 1);
    all_reduce(number, {.algorithm = "recursive_doubling"});
    sim::compute(2e-6);
  })};
}

// Rank 3 starts late. The others wait for its key in the store; then all have one group.
std::vector<Trace> rendezvous() {
  const auto store = make_memory_store();
  return {run(4, "laptop", [&](int rank) {
    constexpr double start_s[]{1e-6, 2e-6, 1.5e-6, 10e-6};
    sim::compute(start_s[rank]);
    const auto key = [](int of) { return "job/member/" + std::to_string(of); };
    store->set(key(rank), "here");
    store->wait(std::vector{key(0), key(1), key(2), key(3)}, Deadline::after(std::chrono::seconds(10)));
    Tensor mine = zeros({40}, DType::u8), all = zeros({160}, DType::u8);
    all_gather_into_tensor(all, mine, {.algorithm = "ring"});
  })};
}

// A table of 2 x 4: a sum in every row, then a sum in every column.
std::vector<Trace> rows_and_columns() {
  return {run(8, "laptop", [](int rank) {
    ProcessGroup row, column;
    for (const int first : {0, 4}) {
      const auto group = new_group({first, first + 1, first + 2, first + 3});
      if (group.is_member()) row = group;
    }
    for (const int first : {0, 1, 2, 3}) {
      const auto group = new_group({first, first + 4});
      if (group.is_member()) column = group;
    }
    Tensor t = full({256}, rank);
    sim::compute(2e-6);
    all_reduce(t, {.group = row, .algorithm = "recursive_doubling"});
    sim::compute(2e-6);
    all_reduce(t, {.group = column, .algorithm = "recursive_doubling"});
    sim::compute(1e-6);
  })};
}

// A ring in which all ranks send first, and one in which the odd ranks receive first.
std::vector<Trace> send_first() {
  const auto ring = [](bool by_parity) {
    return [=](int rank) {
      const int n = get_world_size(), next = (rank + 1) % n, before = (rank + n - 1) % n;
      Tensor mine = full({16 * 1024}, rank), theirs = zeros({16 * 1024});
      sim::compute(2e-6);
      if (by_parity && rank % 2 == 1) {
        recv(theirs, before);
        send(mine, next);
      } else {
        send(mine, next);
        recv(theirs, before);
      }
      if (by_parity) sim::compute(2e-6);
    };
  };
  return {run(4, "laptop", ring(false), "D1"), run(4, "laptop", ring(true))};
}

// A megabyte each way: waited for at once, and while both ranks compute.
std::vector<Trace> overlap() {
  const auto swap = [](bool overlaps) {
    return [=](int rank) {
      const Tensor mine = full({250'000}, rank);
      Tensor theirs = zeros({250'000});
      Work coming = irecv(theirs, 1 - rank), going = isend(mine, 1 - rank);
      if (overlaps) sim::compute(700e-6);
      coming.wait(), going.wait();
      if (!overlaps) sim::compute(700e-6);
    };
  };
  return {run(2, "10gbe", swap(false)), run(2, "10gbe", swap(true))};
}

std::vector<Trace> broadcasts() {
  const auto by = [](const std::string& algorithm) {
    return run(8, "laptop", [=](int rank) {
      Tensor t = full({16 * 1024}, rank);
      broadcast(t, 0, {.algorithm = algorithm});
    });
  };
  return {by("flat"), by("binomial")};
}

std::vector<Trace> scatters() {
  const auto by = [](const std::string& algorithm) {
    return run(8, "laptop", [=](int rank) {
      std::vector<Tensor> parts;
      for (int r = 0; rank == 0 && r < 8; ++r) parts.push_back(full({1024}, r));
      Tensor mine = zeros({1024});
      scatter(mine, parts, 0, {.algorithm = algorithm});
    });
  };
  return {by("flat"), by("binomial")};
}

// The same output of 64 KiB on every rank.
std::vector<Trace> gathered_and_summed() {
  return {run(4, "laptop",
              [](int rank) {
                Tensor mine = full({4 * 1024}, rank), all = zeros({16 * 1024});
                all_gather_into_tensor(all, mine, {.algorithm = "ring"});
              }),
          run(4, "laptop", [](int rank) {
            Tensor t = full({16 * 1024}, rank);
            all_reduce(t, {.algorithm = "reduce_broadcast"});
          })};
}

// A softmax whose row is on eight GPUs: two all_reduces of a number, or one all_gather of a pair of numbers.
std::vector<Trace> softmaxes() {
  constexpr double pass_s = 2e-6;  // over this rank's logits
  return {run(8, "dgx-h100-ndr",
              [](int) {
                Tensor number = ones({1}, DType::f64);
                sim::compute(pass_s);
                all_reduce(number, ReduceOp::max, {.algorithm = "recursive_doubling"});
                sim::compute(pass_s);
                all_reduce(number, {.algorithm = "recursive_doubling"});
                sim::compute(pass_s);
              }),
          run(8, "dgx-h100-ndr", [](int) {
            Tensor pair = ones({2}, DType::f64), pairs = zeros({16}, DType::f64);
            sim::compute(2 * pass_s);
            all_gather_into_tensor(pairs, pair, {.algorithm = "bruck"});
            sim::compute(pass_s);
          })};
}

}  // namespace

const std::vector<Picture>& message_pictures() {
  static const std::vector<Picture> all{
      {"00", first_sum, {.row = 34}},        {"01", rendezvous, {.row = 34}},
      {"02", rows_and_columns, {.row = 26}}, {"03", send_first, {.row = 30}},
      {"04", overlap, {.row = 34}},          {"05", broadcasts, {.row = 20}},
      {"06", scatters, {.row = 20}},         {"07", gathered_and_summed, {.row = 30}},
      {"08", softmaxes, {.row = 20}},
  };
  return all;
}

}  // namespace dist::pictures
