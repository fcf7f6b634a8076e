#include <gtest/gtest.h>

#include "dist/store/socket.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

TEST(SocketAddress, ReadsEveryFormAndWritesItBack) {
  const auto v4 = parse_address("tcp://10.0.0.1:29500");
  EXPECT_EQ(v4.host, "10.0.0.1");
  EXPECT_EQ(v4.port, 29500);
  const auto v6 = parse_address("tcp://[fe80::1]:1");
  EXPECT_EQ(v6.host, "fe80::1");
  EXPECT_EQ(v6.port, 1);
  EXPECT_EQ(parse_address("fd://4").given, 4);
  const auto local = parse_address("unix://@job 7");
  EXPECT_TRUE(local.is_unix());
  EXPECT_EQ(local.name, "job 7");
  for (const char* text :
       {"tcp://10.0.0.1:29500", "tcp://[fe80::1]:1", "tcp://node-3.cluster:0", "unix://@job 7", "fd://4"}) {
    EXPECT_EQ(parse_address(text).str(), text);
  }
}

TEST(SocketAddress, RefusesWhatItCannotReadAndQuotesIt) {
  const std::string long_name = "unix://@" + std::string(108, 'x');
  for (const std::string text : {"",
                                 "tcp://",
                                 "tcp://host",
                                 "tcp://host:",
                                 "tcp://:29500",
                                 "tcp://host:65536",
                                 "tcp://host:-1",
                                 "tcp://host:29500x",
                                 "tcp://fe80::1:29500",
                                 "tcp://[::1]",
                                 "tcp://[::1:5",
                                 "tcp://a/b:5",
                                 "tcp://[]:5",
                                 "http://host:80",
                                 "host:80",
                                 "unix://path",
                                 "unix://@",
                                 "fd://",
                                 "fd://-1",
                                 "fd://x",
                                 long_name.c_str()}) {
    expect_error(Errc::invalid_argument, {"store address", text.substr(0, 60)}, [&] { parse_address(text); });
  }
}

}  // namespace
}  // namespace dist::test
