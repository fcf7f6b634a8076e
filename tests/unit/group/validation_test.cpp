// What is refused, and in which words. Refused calls move nothing: the group stays usable.
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;

struct Refusal {
  const char* name;
  std::function<void(int rank)> call;  // made by one of three ranks
  std::vector<std::string> parts;
};

std::vector<Tensor> list_of(int n, std::int64_t count = 2, DType dtype = DType::f32) {
  std::vector<Tensor> list;
  for (int i = 0; i < n; ++i) list.push_back(zeros({count}, dtype));
  return list;
}

Tensor t2() { return zeros({2}); }

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> all{
      {"undefined tensor",
       [](int) {
         Tensor t;
         all_reduce(t);
       },
       {"all_reduce", "t is an undefined tensor"}},
      {"undefined tensor sent", [](int rank) { send(Tensor{}, (rank + 1) % 3); }, {"undefined"}},
      {"undefined in a list",
       [](int) {
         auto list = list_of(3);
         list[1] = Tensor{};
         all_gather(list, t2());
       },
       {"all_gather", "list[1] is an undefined tensor"}},
      {"list too short",
       [](int) {
         auto list = list_of(2);
         all_gather(list, t2());
       },
       {"list has 2 tensors", "3 ranks"}},
      {"list too long",
       [](int) {
         auto list = list_of(4);
         Tensor t = t2();
         reduce_scatter(t, list);
       },
       {"list has 4 tensors"}},
      {"dtype in a list",
       [](int) {
         auto list = list_of(3, 2, DType::i32);
         all_gather(list, t2());
       },
       {"list[0] is i32", "t is f32"}},
      {"own share",
       [](int) {
         auto list = list_of(3, 5);
         all_gather(list, t2());
       },
       {"t has 2 elements", "this rank's part, has 5"}},
      {"overlap in the output list",
       [](int rank) {
         Tensor whole = zeros({6});
         std::vector<Tensor> list{whole.narrow(0, 2), whole.narrow(1, 2), whole.narrow(4, 2)};
         all_gather(list, rank == 5 ? list[0] : t2());
       },
       {"list[0] and list[1] share memory"}},
      {"input inside the output",
       [](int rank) {
         Tensor whole = zeros({6});
         all_gather_into_tensor(whole, whole.narrow(2 * ((rank + 1) % 3), 2));
       },
       {"share memory"}},
      {"input half in its own place",
       [](int) {
         Tensor whole = zeros({6});
         all_gather_into_tensor(whole, whole.narrow(1, 2));
       },
       {"share memory"}},
      {"all_gather_into_tensor's size",
       [](int) {
         Tensor out = zeros({7});
         all_gather_into_tensor(out, t2());
       },
       {"out has 7 elements", "3 ranks x 2 elements"}},
      {"reduce_scatter_tensor's size",
       [](int) {
         Tensor out = t2();
         reduce_scatter_tensor(out, zeros({4}));
       },
       {"t has 4 elements", "= 6"}},
      {"dtype of out and t",
       [](int) {
         Tensor out = zeros({6}, DType::i64);
         all_gather_into_tensor(out, t2());
       },
       {"out is i64, but t is f32"}},
      {"src out of range",
       [](int) {
         Tensor t = t2();
         broadcast(t, 3);
       },
       {"src = 3 is not a rank", "0 to 2"}},
      {"negative dst",
       [](int) {
         Tensor t = t2();
         reduce(t, -1);
       },
       {"dst = -1 is not a rank"}},
      {"any_rank as a number",
       [](int) {
         Tensor t = t2();
         recv(t, -1);
       },
       {"src = -1 is not a rank"}},
      {"group_src out of range",
       [](int) {
         Tensor t = t2();
         broadcast(t, 0, {.group_src = 3});
       },
       {".group_src = 3", "3 ranks"}},
      {"group_src below -1",
       [](int) {
         Tensor t = t2();
         broadcast(t, 0, {.group_src = -2});
       },
       {".group_src = -2"}},
      {"group_dst of a broadcast",
       [](int) {
         Tensor t = t2();
         broadcast(t, 0, {.group_dst = 1});
       },
       {"broadcast", "not take .group_dst"}},
      {"group_src of an all_reduce",
       [](int) {
         Tensor t = t2();
         all_reduce(t, ReduceOp::sum, {.group_src = 1});
       },
       {"not take .group_src"}},
      {"tag on a collective",
       [](int) {
         Tensor t = t2();
         all_reduce(t, ReduceOp::sum, {.tag = 4});
       },
       {".tag = 4", "point-to-point"}},
      {"algorithm on a message",
       [](int rank) { send(t2(), (rank + 1) % 3, {.algorithm = "ring"}); },
       {"\"ring\"", "collectives only"}},
      {"unknown algorithm",
       [](int) {
         Tensor t = t2();
         all_reduce(t, ReduceOp::sum, {.algorithm = "magic"});
       },
       {"\"magic\"", "ring", "recursive_doubling"}},
      {"algorithm of another collective",
       [](int) {
         Tensor t = t2();
         broadcast(t, 0, {.algorithm = "ring"});
       },
       {"broadcast has no algorithm \"ring\"", "binomial"}},
      {"avg of bool",
       [](int) {
         Tensor t = zeros({2}, DType::boolean);
         all_reduce(t, ReduceOp::avg);
       },
       {"avg is not defined for bool"}},
      {"bits of floats",
       [](int) {
         Tensor t = t2();
         all_reduce(t, ReduceOp::bxor);
       },
       {"bxor is not defined for f32"}},
      {"premul_sum of integers",
       [](int) {
         Tensor t = zeros({2}, DType::i32);
         reduce(t, 0, ReduceOp::premul_sum(2));
       },
       {"premul_sum is not defined for i32"}},
      {"send to oneself", [](int rank) { send(t2(), rank); }, {"blocking send to oneself", "isend"}},
      {"list where it does not belong",
       [](int rank) {
         Tensor t = t2();
         auto list = list_of(3);
         scatter(t, list, (rank + 1) % 3);
       },
       {"list has 3 tensors", "source", "leave it empty"}},
      {"no list where it belongs",
       [](int rank) {
         std::vector<Tensor> list;
         gather(t2(), list, rank);
       },
       {"list has 0 tensors"}},
      {"all_to_all overlap",
       [](int) {
         auto list = list_of(3);
         all_to_all(list, list);
       },
       {"outs[0] and ins[0] share memory"}},
      {"all_to_all's own share",
       [](int) {
         auto outs = list_of(3, 3), ins = list_of(3, 2);
         all_to_all(outs, ins);
       },
       {"this rank's part"}},
      {"all_to_all without inputs",
       [](int) {
         auto outs = list_of(3);
         all_to_all(outs, {});
       },
       {"ins is empty"}},
      {"rows that do not divide",
       [](int) {
         Tensor out = zeros({4}), in = zeros({4});
         all_to_all_single(out, in);
       },
       {"out has 4 rows", "out_splits"}},
      {"splits sum",
       [](int) {
         Tensor out = zeros({6}), in = zeros({6});
         all_to_all_single(out, in, {}, {1, 2, 2});
       },
       {"in_splits sums to 5, but in has 6 rows"}},
      {"split count",
       [](int) {
         Tensor out = zeros({6}), in = zeros({6});
         all_to_all_single(out, in, {6}, {});
       },
       {"out_splits has 1 entry;"}},
      {"negative split",
       [](int) {
         Tensor out = zeros({6}), in = zeros({6});
         all_to_all_single(out, in, {}, {-1, 3, 4});
       },
       {"entry -1"}},
      {"scalar to split",
       [](int) {
         Tensor out = zeros({}), in = zeros({});
         all_to_all_single(out, in);
       },
       {"no axis"}},
      {"negative timeout",
       [](int) {
         Tensor t = t2();
         all_reduce(t, ReduceOp::sum, {.timeout = Timeout(-5)});
       },
       {"timeout is negative"}},
      {"asynchronous objects",
       [](int) {
         std::string s;
         broadcast_object(s, 0, {.async_op = true});
       },
       {"broadcast_object", ".async_op"}},
      {"an asynchronous object that is sent",
       [](int rank) { send_object("", (rank + 1) % 3, {.async_op = true}); },
       {"send_object", ".async_op"}},
      {"objects for some ranks only",
       [](int rank) {
         scatter_object({"a", "b"}, rank);
       },
       {"2 objects for 3 ranks"}},
      {"asynchronous monitored barrier",
       [](int) { monitored_barrier(std::chrono::seconds(1), {.async_op = true}); },
       {"monitored_barrier", ".async_op"}},
      {"negative timeout of a group",
       [](int) {
         new_group({0, 1}, {.timeout = -std::chrono::seconds(1)});
       },
       {"new_group", "the timeout is negative"}},
  };
  return all;
}

TEST(Validation, EveryRefusalNamesTheRankTheCallAndTheReason) {
  run_ranks(3, [](int rank) {
    for (const auto& refusal : refusals()) {
      SCOPED_TRACE(refusal.name);
      const auto text =
          expect_error(Errc::invalid_argument, {"rank " + std::to_string(rank), "validation_test.cpp:"},
                       [&] { refusal.call(rank); });
      for (const auto& part : refusal.parts)
        EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
    Tensor t = full({2}, 1);
    all_reduce(t);
    EXPECT_EQ(max(t), 3) << "nothing moved, the ranks are in step";
  });
}

TEST(Validation, OneRankIsRefusedAndTriesAgain) {
  run_ranks(3, [](int rank) {
    Tensor t = full({2}, 1), empty_one;
    if (rank == 1) expect_error(Errc::invalid_argument, {"undefined"}, [&] { all_reduce(empty_one); });
    all_reduce(t);
    EXPECT_EQ(max(t), 3);
  });
}

TEST(Validation, AMemberOfAnotherGroupAsRoot) {
  run_ranks(3, [](int rank) {
    const ProcessGroup pair = new_group({0, 2});
    if (rank == 1) return;
    Tensor t = t2();
    expect_error(Errc::invalid_argument, {"src = 1 is not a member", ".group_src"},
                 [&] { broadcast(t, 1, {.group = pair}); });
    expect_error(Errc::invalid_argument, {"dst = 1 is not a member"}, [&] { send(t, 1, {.group = pair}); });
  });
}

TEST(Validation, TheLineOfTheCallIsNamed) {
  run_ranks(1, [](int) {
    Tensor undefined;
    const auto here = [](int line) { return fmt::format("validation_test.cpp:{}", line); };
    const int plain = __LINE__ + 1;
    const auto call_plain = [&] { all_reduce(undefined); };
    const int with_options = __LINE__ + 1;
    const auto call_with_options = [&] { all_reduce(undefined, ReduceOp::sum, {.algorithm = "ring"}); };
    expect_error(Errc::invalid_argument, {here(plain)}, call_plain);
    expect_error(Errc::invalid_argument, {here(with_options)}, call_with_options);
  });
}

}  // namespace
}  // namespace dist
