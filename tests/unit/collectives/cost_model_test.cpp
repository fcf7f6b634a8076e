// The file of the cost model, and fitting it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "dist/collectives/cost/cost_model_file.h"
#include "dist/collectives/cost/fit.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

namespace fs = std::filesystem;

class CostModelFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "distlab-cost-model-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path file_with(const std::string& text) const {
    const fs::path path = folder_ / "model.json";
    std::ofstream(path) << text;
    return path;
  }
  fs::path folder_;
};

TEST_F(CostModelFile, KeepsWhatWasSaved) {
  const CostModel model{.alpha = 1.25e-6,
                        .beta = 3e-10,
                        .gamma = 7e-11,
                        .overhead = 4e-7,
                        .handshake = 2e-6,
                        .copy = 5e-11,
                        .segment = 192 * 1024};
  const fs::path path = folder_ / "new" / "folders" / "model.json";
  save_cost_model(model, path);
  const auto loaded = load_cost_model(path);
  ASSERT_TRUE(loaded);
  EXPECT_DOUBLE_EQ(loaded->alpha, model.alpha);
  EXPECT_DOUBLE_EQ(loaded->beta, model.beta);
  EXPECT_DOUBLE_EQ(loaded->gamma, model.gamma);
  EXPECT_DOUBLE_EQ(loaded->overhead, model.overhead);
  EXPECT_DOUBLE_EQ(loaded->handshake, model.handshake);
  EXPECT_DOUBLE_EQ(loaded->copy, model.copy);
  EXPECT_DOUBLE_EQ(loaded->segment, model.segment);
}

TEST_F(CostModelFile, FiguresThatAreLeftOutKeepTheirDefaults) {
  const auto loaded = load_cost_model(file_with(R"({"alpha_us": 7})"), tcp_costs());
  ASSERT_TRUE(loaded);
  EXPECT_DOUBLE_EQ(loaded->alpha, 7e-6);
  EXPECT_EQ(loaded->beta, tcp_costs().beta);
  EXPECT_EQ(loaded->segment, tcp_costs().segment);
  EXPECT_FALSE(load_cost_model(folder_ / "nothing.json")) << "a missing file is not an error";
  EXPECT_FALSE(load_cost_model({}));
}

TEST_F(CostModelFile, WhatIsBrokenIsNamedInOneLine) {
  const auto refused = [&](const std::string& text, const std::string& problem) {
    const fs::path path = file_with(text);
    expect_error(Errc::invalid_argument, {path.string(), problem, "calibrate again"}, [&] {
      try {
        (void)load_cost_model(path);
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        throw;
      }
    });
  };
  refused("", "is not JSON");
  refused("{\"alpha_us\": 1,}", "is not JSON");
  refused("[1, 2]", "is not a JSON object");
  refused(R"({"alfa_us": 1})", "unknown figure \"alfa_us\"");
  refused(R"({"alpha_us": "1"})", "\"1\" for \"alpha_us\"");
  refused(R"({"beta_ns_per_byte": -0.5})", "-0.5 for \"beta_ns_per_byte\"");
  refused(R"({"beta_ns_per_byte": 1e999})", "no");
  refused(R"({"segment_kib": 0.5})", "0.5 for \"segment_kib\", which is not from 1 to 1048576");
  refused(R"({"segment_kib": 1e300})", "for \"segment_kib\"");
  expect_error(Errc::invalid_argument, {folder_.string(), "the cost model"},
               [&] { (void)load_cost_model(folder_); });
  expect_error(Errc::invalid_argument, {"the cost model was not saved", "DIST_COST_MODEL"},
               [&] { save_cost_model({}, file_with("") / "below_a_file.json"); });
}

// Restores the environment variables at the end.
class WithVariables {
 public:
  void set(const char* name, const char* value) {
    const char* before = std::getenv(name);
    before_.push_back({name, before ? std::optional<std::string>(before) : std::nullopt});
    if (value)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }
  ~WithVariables() {
    for (auto it = before_.rbegin(); it != before_.rend(); ++it) {
      if (it->second)
        setenv(it->first, it->second->c_str(), 1);
      else
        unsetenv(it->first);
    }
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST(CostModelPath, ComesFromTheEnvironment) {
  WithVariables variables;
  variables.set("HOME", "/home/student");
  variables.set("XDG_CONFIG_HOME", nullptr);
  variables.set("DIST_COST_MODEL", nullptr);
  EXPECT_EQ(cost_model_path(), "/home/student/.config/distlab/cost_model.json");
  variables.set("XDG_CONFIG_HOME", "/config");
  EXPECT_EQ(cost_model_path(), "/config/distlab/cost_model.json");
  EXPECT_EQ(cost_model_path(true), "/config/distlab/cost_model_tcp.json");
  variables.set("DIST_COST_MODEL", "here.json");
  EXPECT_EQ(cost_model_path(), "here.json");
  for (const char* name : {"HOME", "XDG_CONFIG_HOME", "DIST_COST_MODEL"}) variables.set(name, nullptr);
  EXPECT_TRUE(cost_model_path().empty());
}

// A job that another user starts with this user's HOME has no figures, but it does not fail.
TEST_F(CostModelFile, OfAHomeThatCannotBeEnteredIsNotAskedFor) {
  WithVariables variables;
  fs::create_symlink("round", folder_ / "round");  // root could enter any folder
  variables.set("HOME", (folder_ / "round").c_str());
  for (const char* name : {"XDG_CONFIG_HOME", "DIST_COST_MODEL"}) variables.set(name, nullptr);
  EXPECT_TRUE(known_costs().file.empty());
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& odd : {cost_model_path(), pipe, fs::path("/dev/zero")}) {
    variables.set("DIST_COST_MODEL", odd.c_str());
    expect_error(Errc::invalid_argument, {odd.string(), "cost model"}, [] { (void)known_costs(); });
  }
}

using What = Measurement::What;

std::vector<Measurement> exact(const CostModel& m) {
  std::vector<Measurement> all;
  for (double bytes : {0., 64., 4096., 1e5, 1e7}) {
    all.push_back({What::one_way, bytes, m.message(bytes)});
    all.push_back({What::burst, bytes, m.port(bytes)});
    if (bytes > 0) all.push_back({What::reduce, bytes, m.sum(bytes)});
    for (int steps : {1, 2})
      all.push_back({What::mapped, bytes, steps * m.handshake + m.copy * bytes, steps});
  }
  return all;
}

void expect_near(const CostModel& is, const CostModel& want, double tolerance) {
  EXPECT_NEAR(is.alpha, want.alpha, tolerance * want.alpha);
  EXPECT_NEAR(is.beta, want.beta, tolerance * want.beta);
  EXPECT_NEAR(is.gamma, want.gamma, tolerance * want.gamma);
  EXPECT_NEAR(is.overhead, want.overhead, tolerance * want.overhead);
  EXPECT_NEAR(is.handshake, want.handshake, tolerance * want.handshake);
  EXPECT_NEAR(is.copy, want.copy, tolerance * want.copy);
}

TEST(Fit, FindsTheModelThatTheMeasurementsCameFrom) {
  const CostModel truth{
      .alpha = 3.5e-6, .beta = 4e-10, .gamma = 9e-11, .overhead = 8e-7, .handshake = 6e-7, .copy = 2e-10};
  expect_near(fit(exact(truth)), truth, 1e-6);
  auto noisy = exact(truth);
  for (std::size_t i = 0; i < noisy.size(); ++i) noisy[i].seconds *= i % 2 == 0 ? 1.02 : 0.98;
  expect_near(fit(noisy), truth, 0.1);
}

TEST(Fit, LongMessagesDoNotDrownTheShortOnes) {
  // 5 % too slow at 100 MB is 1 ms, a thousand times the latency.
  const std::vector<Measurement> ping_pong{{What::one_way, 8, 2e-6},
                                           {What::one_way, 64, 2e-6},
                                           {What::one_way, 1e8, 21e-3},
                                           {What::one_way, 5e7, 10e-3}};
  const CostModel model = fit(ping_pong);
  EXPECT_NEAR(model.message(8), 2e-6, 0.05e-6);
  EXPECT_NEAR(model.beta, 2.05e-10, 0.06e-10);
}

TEST(Fit, WhatWasNotMeasuredStays) {
  const CostModel base{
      .alpha = 3e-6, .beta = 1e-9, .gamma = 5e-10, .overhead = 1e-6, .handshake = 9e-6, .copy = 8e-10};
  EXPECT_EQ(fit({}, base), base);
  const std::vector<Measurement> some{{What::one_way, 0, 8e-6}, {What::one_way, 1e6, 8e-6 + 2e-3}};
  const CostModel model = fit(some, base);
  EXPECT_NEAR(model.alpha, 6e-6, 1e-9) << "alpha and overhead keep their ratio";
  EXPECT_NEAR(model.overhead, 2e-6, 1e-9);
  EXPECT_NEAR(model.beta, 2e-9, 1e-12);
  EXPECT_EQ(model.gamma, base.gamma);
  EXPECT_EQ(model.copy, base.copy);
}

TEST(Fit, NoFigureBecomesNegative) {
  const std::vector<Measurement> shrinking{{What::one_way, 0, 3e-6}, {What::one_way, 100, 2e-6}};
  EXPECT_EQ(fit(shrinking).beta, 0);
  EXPECT_GT(fit(shrinking).alpha, 0);
  const std::vector<Measurement> steep{{What::one_way, 1e3, 1e-6}, {What::one_way, 1e6, 1e-2}};
  const CostModel model = fit(steep);
  EXPECT_EQ(model.alpha, 0);
  EXPECT_EQ(model.overhead, 0);
  EXPECT_GT(model.beta, 0);
}

TEST(Fit, RefusesWhatLeavesFiguresOpen) {
  const auto refuses = [](std::vector<Measurement> measurements, const char* problem) {
    expect_error(Errc::invalid_argument, {"fit: ", problem}, [&] { (void)fit(measurements); });
  };
  refuses({{What::one_way, 64, 1e-6}}, "two sizes");
  refuses({{What::one_way, 64, 1e-6}, {What::one_way, 64, 2e-6}}, "two sizes");
  refuses({{What::reduce, 0, 1e-9}}, "have no bytes");
  refuses({{What::burst, 8, 0}}, "is not a measurement");
  refuses({{What::mapped, 8, -1}}, "is not a measurement");
  refuses({{What::reduce, -8, 1e-6}}, "is not a measurement");
}

}  // namespace
}  // namespace dist::test
