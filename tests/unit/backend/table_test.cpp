// The backend table, its stubs, and what the host backend supports.
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/backend/auto_choice.h"
#include "dist/backend/host_backend.h"

#include "support/expect_error.h"

namespace dist {
namespace {

using test::expect_error;

TEST(BackendTable, HostIsThere) {
  EXPECT_EQ(find_backend("host").name, "host");
  std::string why = "left over";
  EXPECT_TRUE(find_backend("host").available(&why));
  EXPECT_EQ(why, "");
  EXPECT_TRUE(find_backend("host").available(nullptr));
}

TEST(BackendTable, AbsentOnesSayWhatToUse) {
  for (const auto& entry : backends()) {
    std::string why;
    if (entry.available(&why)) continue;
    EXPECT_NE(why.find(entry.name), std::string::npos) << why;
    EXPECT_NE(why.find("use"), std::string::npos) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << "one line";
    expect_error(Errc::unsupported, {std::string(entry.name), why}, [&] { find_backend(entry.name); });
    expect_error(Errc::unsupported, {}, [&] { entry.make({}); });
  }
}

TEST(BackendTable, UnknownNamesListTheKnown) {
  expect_error(Errc::invalid_argument, {"\"foo\"", "auto, host, cuda, nccl, mpi, sim"},
               [] { find_backend("foo"); });
}

TEST(BackendTable, PyTorchsNamesAreKnown) {
  EXPECT_EQ(find_backend("gloo").name, "host");
  expect_error(Errc::invalid_argument, {"no backend \"ucc\"", "use \"auto\""}, [] { find_backend("ucc"); });
}

TEST(BackendTable, AutoIsWhatAllRanksHave) {
  const RankDevice a{"GPU a", true, ""}, b{"GPU b", true, ""}, lean{"GPU b", false, "no libnccl"},
      none{"", false, "no GPU"};
  const auto choose = [](std::vector<RankDevice> by_rank) {
    const BackendChoice choice = choose_backend(by_rank);
    return fmt::format("{}: {}", choice.backend, choice.reason);
  };
  EXPECT_EQ(choose({a, b}), "nccl: every rank has a GPU of its own");
  EXPECT_EQ(choose({a, b, a}), "cuda: ranks 0 and 2 share a GPU (GPU a)");
  EXPECT_EQ(choose({a, lean}), "cuda: every rank has a GPU of its own, but rank 1 has no NCCL: no libnccl");
  EXPECT_EQ(choose({a, none, b}), "host: rank 1 has no GPU: no GPU");
  EXPECT_EQ(choose({none}), "host: rank 0 has no GPU: no GPU");
}

TEST(BackendTable, WhatARankHasSurvivesItsLine) {
  for (const RankDevice& one :
       {RankDevice{"0000:1b:00.0 of host 3", true, ""}, RankDevice{"", false, "why not"}}) {
    const RankDevice again = RankDevice::from(one.str());
    EXPECT_EQ(again.gpu, one.gpu);
    EXPECT_EQ(again.nccl, one.nccl);
    EXPECT_EQ(again.reason, one.reason);
  }
  EXPECT_EQ(RankDevice::from("").gpu, "");
}

TEST(HostBackend, SupportTable) {
  BackendContext context;
  context.members = {0};
  const HostBackend backend("host", context);
  using Kind = ReduceOp::Kind;
  const auto has = [&](OpKind kind, Kind op, DType dtype) {
    std::string why;
    const bool yes = backend.supports(kind, op, dtype, cpu, &why);
    EXPECT_EQ(yes, why.empty()) << why;
    return yes;
  };
  for (const DType dtype : all_dtypes) {
    for (std::size_t k = 0; k < op_kind_count; ++k) {
      const auto kind = static_cast<OpKind>(k);
      const bool reduces =
          kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
      const bool integer = !is_floating_point(dtype);
      EXPECT_TRUE(has(kind, Kind::sum, dtype));
      EXPECT_EQ(has(kind, Kind::bxor, dtype), !reduces || integer) << name(kind) << ' ' << name(dtype);
      EXPECT_EQ(has(kind, Kind::premul_sum, dtype), !reduces || !integer) << name(kind) << ' ' << name(dtype);
      EXPECT_EQ(has(kind, Kind::avg, dtype), !reduces || dtype != DType::boolean);
    }
  }
  std::string why;
  EXPECT_FALSE(backend.supports(OpKind::send, Kind::sum, DType::f32, cuda(0), &why));
  EXPECT_NE(why.find("CPU"), std::string::npos) << why;
}

}  // namespace
}  // namespace dist
