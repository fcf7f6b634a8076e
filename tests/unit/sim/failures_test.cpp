// What a simulation says when its program is wrong.
#include <gtest/gtest.h>

#include "unit/sim/simulate.h"

namespace dist::test {
namespace {

std::string error_of(const std::function<void(Transport&)>& body, SendMode mode) {
  try {
    simulate(sim::Topology::rounds(), 2, body, mode);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(SimFailures, EverybodySendsFirst) {
  const auto both_send_first = [](Transport& net) {
    Tensor out = zeros({1}), in = zeros({1});
    net.isend(out.flat(), 1 - net.rank()).wait();
    net.irecv(in.flat(), 1 - net.rank()).wait();
  };
  EXPECT_EQ(error_of(both_send_first, SendMode::eager), "no error");
  EXPECT_EQ(error_of(both_send_first, SendMode::rendezvous),
            "deadlock: rank 0 waits to send to rank 1; rank 1 waits to send to rank 0");
}

TEST(SimFailures, SizesThatDiffer) {
  const auto text = error_of(
      [](Transport& net) {
        Tensor data = zeros({net.rank() + 1}, DType::u8);
        if (net.rank() == 0)
          net.isend(data.flat(), 1).wait();
        else
          net.irecv(data.flat(), 0).wait();
      },
      SendMode::rendezvous);
  EXPECT_NE(text.find("has another size there"), std::string::npos) << text;
}

TEST(SimFailures, TheFirstRanksOwnErrorIsTheResult) {
  const auto text = error_of(
      [](Transport& net) {
        if (net.rank() == 0) throw std::runtime_error("mine");
        Tensor data = zeros({1});
        net.irecv(data.flat(), 0).wait();
      },
      SendMode::eager);
  EXPECT_EQ(text, "mine");
}

}  // namespace
}  // namespace dist::test
