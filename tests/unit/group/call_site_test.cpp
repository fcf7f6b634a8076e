// A message names the line of the call: not that of the Options it was given, nor one of a header.
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::expect_error;
using test::run_ranks;
using test::run_unjoined;

struct PublicCall {
  int line;
  std::function<void(const Options&)> run;
};
#define CALL(expression)                                                          \
  PublicCall {                                                                    \
    __LINE__, []([[maybe_unused]] const Options& o) {                             \
      [[maybe_unused]] Tensor t; /* undefined: the options are looked at first */ \
      [[maybe_unused]] std::vector<Tensor> list;                                  \
      [[maybe_unused]] std::string text;                                          \
      [[maybe_unused]] std::vector<std::string> texts;                            \
      static_cast<void>(expression);                                              \
    }                                                                             \
  }

const std::vector<PublicCall> operations{
    CALL(send(t, 0, o)),
    CALL(recv(t, 0, o)),
    CALL(recv(t, o)),
    CALL(isend(t, 0, o)),
    CALL(irecv(t, 0, o)),
    CALL(irecv(t, o)),
    CALL(batch_isend_irecv({{P2P::isend, t, 0}}, o)),
    CALL(broadcast(t, 0, o)),
    CALL(reduce(t, 0, ReduceOp::sum, o)),
    CALL(reduce(t, 0, o)),
    CALL(all_reduce(t, ReduceOp::sum, o)),
    CALL(all_reduce(t, o)),
    CALL(scatter(t, list, 0, o)),
    CALL(gather(t, list, 0, o)),
    CALL(all_gather(list, t, o)),
    CALL(all_gather_into_tensor(t, t, o)),
    CALL(reduce_scatter(t, list, ReduceOp::sum, o)),
    CALL(reduce_scatter(t, list, o)),
    CALL(reduce_scatter_tensor(t, t, ReduceOp::sum, o)),
    CALL(reduce_scatter_tensor(t, t, o)),
    CALL(all_to_all(list, list, o)),
    CALL(all_to_all_single(t, t, {}, {}, o)),
    CALL(all_to_all_single(t, t, o)),
    CALL(barrier(o)),
    CALL(monitored_barrier(no_timeout, o)),
    CALL(send_object(text, 0, o)),
    CALL(recv_object(text, 0, o)),
    CALL(recv_object(text, o)),
    CALL(send_object_list({text}, 0, o)),
    CALL(recv_object_list(texts, 0, o)),
    CALL(recv_object_list(texts, o)),
    CALL(broadcast_object(text, 0, o)),
    CALL(all_gather_object(text, o)),
    CALL(gather_object(text, 0, o)),
    CALL(scatter_object({}, 0, o)),
};

const NewGroupOptions for_new_group;
const SplitOptions for_split_group;

// Those that take no Options.
const std::vector<PublicCall> others{
    CALL(destroy_process_group()),
    CALL(get_rank()),
    CALL(get_world_size()),
    CALL(get_local_rank()),
    CALL(get_device()),
    CALL(get_backend()),
    CALL(get_process_group_ranks()),
    CALL(default_group()),
    CALL(new_group({0}, for_new_group)),
    CALL(split_group(0, 0, for_split_group)),
    CALL(new_subgroups(1, for_split_group)),
    CALL(new_subgroups_by_enumeration({{0}}, for_split_group)),
};

std::string line(int number) { return fmt::format("call_site_test.cpp:{}: ", number); }

TEST(CallSites, AreTheCallsWhereOptionsAreShared) {
  run_ranks(1, [](int) {
    Options shared;
    shared.timeout = Timeout(-1);
    for (const PublicCall& call : operations)
      expect_error(Errc::invalid_argument, {"timeout is negative", line(call.line)},
                   [&] { call.run(shared); });
    const NewGroupOptions made{.timeout = Timeout(-1)};
    const auto make = [&] { new_group({0}, made); };
    const std::string make_line = line(__LINE__ - 1);
    expect_error(Errc::invalid_argument, {"timeout is negative", make_line}, make);
    const InitOptions again;
    const auto join = [&] { init_process_group(again); };
    const std::string join_line = line(__LINE__ - 1);
    expect_error(Errc::invalid_argument, {"in a job already", join_line}, join);
  });
}

TEST(CallSites, AreNamedWhereThereIsNoGroup) {
  run_unjoined(1, [](int, const std::shared_ptr<Store>&) {
    for (const auto& calls : {operations, others}) {
      for (const PublicCall& call : calls)
        expect_error(Errc::not_initialized, {"call init_process_group first", line(call.line)},
                     [&] { call.run({}); });
    }
  });
}

// A function around a call hands on where it was called.
Work average(Tensor& of, CallSite where = CallSite::current()) {
  return all_reduce(of, ReduceOp::avg, {}, where);
}

TEST(CallSites, AreHandedOnByAFunctionAroundACall) {
  run_ranks(1, [](int) {
    Tensor undefined;
    expect_error(Errc::invalid_argument, {line(__LINE__)}, [&] { average(undefined); });
  });
}

TEST(CallSites, BracesAreNone) {
  run_ranks(1, [](int) {
    Tensor in = arange(2), out = zeros({2});
    all_to_all_single(out, in, {}, {});
    all_to_all_single(out, in, {}, {}, {});
    all_to_all_single(out, in, {2}, {2}, {.timeout = std::chrono::seconds(1)});
    all_reduce(out, {.algorithm = "ring"});
    EXPECT_TRUE(equal(out, in));
  });
}

}  // namespace
}  // namespace dist
