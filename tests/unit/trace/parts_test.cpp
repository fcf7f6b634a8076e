// The ranks' files, and how they become one.
#include "dist/trace/parts.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/trace/recorder.h"

#include "traces.h"

namespace dist::test {
namespace {

namespace fs = std::filesystem;
using trace::JoinedTrace;
using trace::Kind;
using trace::part_path;

class Parts : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-parts-XXXXXX";
    folder_ = mkdtemp(name.data());
    whole_ = folder_ / "trace.json";
  }
  void TearDown() override { fs::remove_all(folder_); }
  void leave(int rank) const {
    trace::write_file({"run", 3, false, {event(Kind::wait, rank, rank, 10 + rank)}},
                      part_path(whole_, rank, 3));
  }
  fs::path folder_;
  std::string whole_;
};

TEST(PartPath, HasTheRankBeforeTheExtension) {
  EXPECT_EQ(part_path("trace.json", 3, 4), "trace.rank3.json");
  EXPECT_EQ(part_path("a.b/trace", 0, 2), "a.b/trace.rank0");
  EXPECT_EQ(part_path("/tmp/x.y.json", 12, 64), "/tmp/x.y.rank12.json");
  EXPECT_EQ(part_path("trace.json", 0, 1), "trace.json");
}

TEST_F(Parts, BecomeOneFile) {
  {
    const JoinedTrace joined(whole_, 3);
    for (const int rank : {0, 1, 2}) leave(rank);
  }
  EXPECT_EQ(trace::read_file(whole_).events.size(), 3u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "the parts are gone";
}

TEST_F(Parts, OfAnEarlierRunAreNotTakenAndAMissingOneDoesNotMatter) {
  leave(0), leave(1);
  {
    const JoinedTrace joined(whole_, 3);
    leave(2);
  }
  EXPECT_EQ(trace::read_file(whole_).events.size(), 1u);
}

TEST_F(Parts, ThatAreDamagedStay) {
  testing::internal::CaptureStderr();
  {
    const JoinedTrace joined(whole_, 3);
    leave(0);
    leave(1);
    fs::resize_file(part_path(whole_, 1, 3), 100);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("trace.rank1.json"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(whole_));
  EXPECT_TRUE(fs::exists(part_path(whole_, 0, 3)));
}

TEST_F(Parts, OfNobodyMakeNoFile) {
  { const JoinedTrace joined(whole_, 3), off("", 3); }
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace dist::test
