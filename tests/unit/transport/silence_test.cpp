// Which peer's machine is gone, by what the kernel reports about its connection.
#include <gtest/gtest.h>

#include "dist/transport/link/tcp_silence.h"

namespace dist::net {
namespace {

constexpr unsigned second = 1000;  // ms

tcp_info heard(unsigned ms_ago) {
  tcp_info info{};
  info.tcpi_last_ack_recv = ms_ago;
  info.tcpi_rto = 200'000;  // us
  return info;
}

TEST(Silence, NobodyWasAsked) {
  EXPECT_FALSE(is_silent(heard(0)));
  EXPECT_FALSE(is_silent(heard(3600 * second))) << "a sleeping machine of our own: keepalive asks";
}

TEST(Silence, APeerThatDoesNotReadAnswersProbes) {
  tcp_info info = heard(110 * second);  // the last answer; the next probe comes after two minutes
  info.tcpi_backoff = 9;
  EXPECT_FALSE(is_silent(info));
  info.tcpi_probes = 1;  // under way
  EXPECT_FALSE(is_silent(info));
}

TEST(Silence, AMachineThatIsGoneAnswersNothing) {
  tcp_info sent = heard(29 * second);
  sent.tcpi_unacked = 4;
  sent.tcpi_retransmits = 7;
  sent.tcpi_rto = 25'600'000;  // doubled each time
  EXPECT_FALSE(is_silent(sent)) << "not yet";
  sent.tcpi_last_ack_recv = 40 * second;
  EXPECT_TRUE(is_silent(sent));
  tcp_info closed_window = heard(40 * second);
  closed_window.tcpi_probes = 5;
  EXPECT_TRUE(is_silent(closed_window));
}

TEST(Silence, AnAnswerToTheLastRetransmissionMayBeOld) {
  tcp_info info = heard(31 * second);
  info.tcpi_unacked = info.tcpi_retransmits = 9;
  info.tcpi_rto = 51'200'000;  // until the next one
  EXPECT_FALSE(is_silent(info));
}

}  // namespace
}  // namespace dist::net
