// A call that needs what this build lacks says so in one line, with what CMake found out and how to get it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>

#include "dist/dist.h"
#include "dist/store/memory_store.h"

#include "distlab/build_info.h"
#include "distlab/process.h"
#include "support/expect_error.h"

namespace {

namespace fs = std::filesystem;
using dist::test::ScopedEnv;
using distlab::build_info, distlab::BuildInfo;

struct Part {
  const char* name;
  const char* topic;  // the doctor's
  std::string_view BuildInfo::*version;
  std::string_view BuildInfo::*why;

  bool is_absent() const { return (build_info().*version).empty(); }
  std::string reason() const { return std::string(build_info().*why); }
};

constexpr Part cuda{"cuda", "CUDA toolkit", &BuildInfo::cuda, &BuildInfo::why_no_cuda};
constexpr Part nccl{"nccl", "NCCL", &BuildInfo::nccl, &BuildInfo::why_no_nccl};
constexpr Part mpi{"mpi", "Open MPI", &BuildInfo::mpi, &BuildInfo::why_no_mpi};
constexpr Part onednn{"onednn", "oneDNN", &BuildInfo::onednn, &BuildInfo::why_no_onednn};
constexpr Part zlib{"zlib", "zlib", &BuildInfo::zlib, &BuildInfo::why_no_zlib};

// A command that needs a part.
struct Request {
  Part part;
  std::vector<std::string> words;
};

const std::vector<Request> all_requests{
    {cuda, {"train", "--device", "cuda", "--nproc", "1"}},
    {cuda, {"train", "--backend", "cuda", "--nproc", "2"}},
    {cuda, {"bench", "all_reduce", "--backend", "cuda"}},
    {cuda, {"run", "1", "--device", "cuda"}},
    {cuda, {"run", "1", "--backend", "cuda"}},
    {nccl, {"train", "--backend", "nccl", "--nproc", "2"}},
    {nccl, {"bench", "all_reduce", "--backend", "nccl"}},
    {nccl, {"run", "1", "--backend", "nccl"}},
    {mpi, {"train", "--backend", "mpi", "--nproc", "2"}},
    {mpi, {"bench", "all_reduce", "--backend", "mpi"}},
    {mpi, {"bench", "all_reduce", "--compare", "mpi"}},
    {mpi, {"run", "1", "--backend", "mpi"}},
    {zlib, {"train", "--data", "mnist", "--dir", ".", "--nproc", "1"}},
};

// The requests that this build cannot fulfil.
std::vector<Request> requests() {
  auto absent = all_requests;
  std::erase_if(absent, [](const Request& request) { return !request.part.is_absent(); });
  return absent;
}

std::string test_name(const testing::TestParamInfo<Request>& info) {
  std::string name = info.param.part.name;
  for (const auto& word : info.param.words) name += '_' + word;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// In a folder whose files of MNIST are compressed.
class Absent : public testing::TestWithParam<Request> {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-absent-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const std::string of :
         {"train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"})
      std::ofstream(folder_ / (of + "-ubyte.gz")) << "\x1f\x8b\x08 and so on";
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

 private:
  fs::path folder_, before_;
  const ScopedEnv root_{"DISTLAB_ROOT", CHECKOUT};
};

TEST_P(Absent, IsOneLineThatSaysHowToGetIt) {
  auto words = GetParam().words;
  words.insert(words.begin(), DISTLAB_PROGRAM);
  const auto said = distlab::run_captured(words);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_EQ(said.output.find("distlab: "), 0U) << said.output;
  EXPECT_NE(said.output.find(GetParam().part.reason()), std::string::npos) << said.output;
  EXPECT_EQ(std::ranges::count(said.output, '\n'), 1) << said.output;
}

INSTANTIATE_TEST_SUITE_P(, Absent, testing::ValuesIn(requests()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Absent);  // all is there

TEST(AbsentBackend, IsRefusedByInitProcessGroup) {
  for (const Part& part : {cuda, nccl, mpi}) {
    if (!part.is_absent()) continue;
    const auto join = [&] {
      dist::init_process_group(
          {.backend = part.name, .rank = 0, .world_size = 1, .store = dist::make_memory_store()});
    };
    dist::test::expect_error(dist::Errc::unsupported, {part.name, part.reason(), "use backend \"host\""},
                             join);
    const ScopedEnv asked("DIST_BACKEND", part.name);
    dist::test::expect_error(dist::Errc::unsupported, {part.name, part.reason()}, [] {
      dist::init_process_group({.rank = 0, .world_size = 1, .store = dist::make_memory_store()});
    });
  }
  EXPECT_FALSE(dist::is_initialized());
}

TEST(AbsentDevice, IsRefusedByInitProcessGroup) {
  if (cuda.is_absent()) {
    const ScopedEnv asked("DIST_DEVICE", "cuda");
    dist::test::expect_error(dist::Errc::unsupported, {"DIST_DEVICE=cuda asks for a GPU", cuda.reason()}, [] {
      dist::init_process_group({.rank = 0, .world_size = 1, .store = dist::make_memory_store()});
    });
  }
  EXPECT_FALSE(dist::is_initialized());
}

TEST(AbsentParts, AreTheDoctorsFindings) {
  const auto said = distlab::run_captured({DISTLAB_PROGRAM, "doctor", "--json"});
  const auto findings = nlohmann::json::parse(said.output).at("findings");
  for (const Part& part : {cuda, nccl, mpi, onednn, zlib}) {
    const auto found = std::ranges::find(findings, part.topic, [](const auto& finding) {
      return finding.at("topic").template get<std::string>();
    });
    ASSERT_NE(found, findings.end()) << part.topic;
    const bool has_reason = found->dump().find(part.reason()) != std::string::npos;
    EXPECT_TRUE(!part.is_absent() || (found->at("health") == "absent" && has_reason)) << found->dump();
  }
}

}  // namespace
