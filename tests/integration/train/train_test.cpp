// distlab train, with ranks that are processes.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "dist/data/digits.h"
#include "dist/nn/safetensors.h"

#include "distlab/train/flop_meter.h"
#include "integration/train/run_train.h"

namespace {

namespace fs = std::filesystem;
using train_test::Arguments;

class Train : public train_test::RunTrain {
 protected:
  // A run of seconds, except where `more` says otherwise; it holds options with their values, and flags.
  static Arguments small(const Arguments& more) {
    Arguments all{DISTLAB_PROGRAM, "train"};
    const Arguments usual{"--nproc", "2", "--samples", "192", "--test-samples", "51", "--batch-size", "16"};
    for (std::size_t i = 0; i < usual.size(); i += 2) {
      if (std::ranges::find(more, usual[i]) == more.end()) all.insert(all.end(), {usual[i], usual[i + 1]});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

// 28 x 28 places of 16 channels, from 1 x 5 x 5 inputs each; 14 x 14 of 32, from 16 x 5 x 5; 10 from 1568.
// Two operations each, three times: forward, and the gradients of weights and inputs. Images have no
// gradient.
TEST(FlopMeter, CountsTheProductsOfTheConvNet) {
  constexpr double first = 2. * 28 * 28 * 16 * 25, second = 2. * 14 * 14 * 32 * 16 * 25,
                   last = 2. * 10 * 1568;
  EXPECT_EQ(distlab::training_flops_per_image(), 2 * first + 3 * (second + last));
}

TEST(FlopMeter, WritesThreeDigitsAndAUnit) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(distlab::FlopMeter(1e3, unknown).text(1234), "1.23 MFLOP/s");
  EXPECT_EQ(distlab::FlopMeter(1e3, 2e12).text(1e9), "1 TFLOP/s, MFU 50.0 %");
  EXPECT_EQ(distlab::FlopMeter(1, unknown).text(999.6e9), "1 TFLOP/s");
}

std::vector<pid_t> children_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{0}/task/{0}/children", pid));
  return {std::istream_iterator<pid_t>(in), {}};
}

// "... accuracy 97.10 % (1942 of 2000) ...": 1942 of the last epoch; -1 when there is none.
int right_of(const std::string& output) {
  int right = -1;
  const std::regex said("accuracy +[0-9.]+ % \\(([0-9]+) of [0-9]+\\)");
  for (std::sregex_iterator found(output.begin(), output.end(), said), end; found != end; ++found)
    right = std::stoi((*found)[1]);
  return right;
}

}  // namespace

TEST_F(Train, LearnsAndCountsEveryTestImageOnce) {
  for (const char* ranks : {"1", "3"}) {  // 3 do not divide 100
    const auto said =
        run(small({"--nproc", ranks, "--samples", "1200", "--test-samples", "100", "--epochs", "1"}));
    EXPECT_EQ(said.exit_code, 0) << said.output;
    EXPECT_TRUE(contains(said.output, "of 100)")) << said.output;
    EXPECT_GT(right_of(said.output), 50) << said.output;  // guessing: 10
    EXPECT_TRUE(contains(said.output, "exposed communication")) << said.output;
  }
}

TEST_F(Train, TheBaselinesLearnAndResumeWithTheSameBits) {
  for (const char* scheme : {"ps", "dp"}) {
    const auto whole = in_folder(std::string("whole.") + scheme),
               parts = in_folder(std::string("parts.") + scheme);
    const auto run_to = [&](const std::string& epochs, const std::string& file) {
      return run(small({"--scheme", scheme, "--samples", "1200", "--test-samples", "100", "--epochs", epochs,
                        "--checkpoint", file, "--resume"}));
    };
    const auto said = run_to("2", whole);
    EXPECT_EQ(said.exit_code, 0) << said.output;
    EXPECT_GT(right_of(said.output), 50) << scheme << said.output;  // guessing: 10
    EXPECT_EQ(run_to("1", parts).exit_code, 0);
    EXPECT_NE(content(parts), content(whole));
    EXPECT_EQ(run_to("2", parts).exit_code, 0);
    EXPECT_TRUE(content(parts) == content(whole)) << scheme;
  }
}

// The server takes the step that every rank of DistributedDataParallel takes.
TEST_F(Train, AParameterServerEndsWhereDdpEnds) {
  const auto weights = [&](const std::string& scheme) {
    const auto file = in_folder(scheme);
    EXPECT_EQ(run(small({"--scheme", scheme, "--epochs", "1", "--checkpoint", file})).exit_code, 0);
    const auto all = dist::nn::load_safetensors(file);
    const auto* const found = dist::nn::find(all, "model.fc.weight");
    return found != nullptr ? *found : dist::zeros({1});
  };
  const auto ddp = weights("ddp"), server = weights("ps");
  const auto difference = ddp - server;
  EXPECT_LT(dist::sum(difference * difference), 1e-8 * dist::sum(ddp * ddp));
}

TEST_F(Train, AResumedRunEndsWithTheSameBits) {
  const auto same = [&](const std::string& ranks, const std::string& algorithm) {
    const auto whole = in_folder("whole"), parts = in_folder("parts");
    const auto run_to = [&](const std::string& epochs, const std::string& file) {
      return run(
          with_environment("DIST_ALGO=allreduce:" + algorithm,
                           small({"--nproc", ranks, "--epochs", epochs, "--checkpoint", file, "--resume"})));
    };
    EXPECT_EQ(run_to("3", whole).exit_code, 0);
    EXPECT_EQ(run_to("1", parts).exit_code, 0);
    EXPECT_NE(content(parts), content(whole));
    const auto resumed = run_to("3", parts);
    EXPECT_TRUE(contains(resumed.output, "continuing after epoch 1")) << resumed.output;
    EXPECT_GT(content(whole).size(), 100'000U);
    EXPECT_TRUE(content(parts) == content(whole)) << ranks << " ranks, " << algorithm;
    fs::remove(whole);
    fs::remove(parts);
  };
  for (const char* ranks : {"1", "2", "3"}) same(ranks, "two_shot");
  same("3", "ring");  // whose order of adding depends on where in a bucket a gradient is
}

TEST_F(Train, ResumeBeginsWhereThereIsNoCheckpointYet) {
  const auto file = in_folder("checkpoint");  // a link, of which nothing has been written yet
  fs::create_symlink("written", file);
  const auto said = run(small({"--epochs", "1", "--checkpoint", file, "--resume", "--momentum", "0"}));
  EXPECT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "does not exist yet: training starts from the beginning")) << said.output;
  EXPECT_TRUE(fs::is_symlink(file));
  EXPECT_TRUE(fs::is_regular_file(in_folder("written")));
}

TEST_F(Train, GoesOnOnlyWithARunOfTheSameKind) {
  const auto file = in_folder("checkpoint");
  ASSERT_EQ(run(small({"--epochs", "1", "--checkpoint", file})).exit_code, 0);
  const auto other = run(small({"--epochs", "2", "--checkpoint", file, "--resume", "--seed", "8"}));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.output, "is from a run with seed = 0, but this run has 8")) << other.output;
  const std::string whole = content(file);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, whole.size() / 2);
  const auto damaged = run(small({"--epochs", "2", "--checkpoint", file, "--resume"}));
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_TRUE(contains(damaged.output, file)) << damaged.output;
}

TEST_F(Train, GoesOnWithAnotherNumberOfRanks) {
  const auto file = in_folder("checkpoint");
  ASSERT_EQ(run(small({"--epochs", "1", "--checkpoint", file})).exit_code, 0);
  const auto one = run(small({"--nproc", "1", "--epochs", "2", "--checkpoint", file, "--resume"}));
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_TRUE(contains(one.output,
                       "from here on 1 rank with 16 each instead of 2 with 16: a step has 16 samples "
                       "instead of 32; --lr stays"))
      << one.output;
  const auto three =
      run(small({"--nproc", "3", "--batch-size", "5", "--epochs", "3", "--checkpoint", file, "--resume"}));
  EXPECT_EQ(three.exit_code, 0);
  EXPECT_TRUE(contains(three.output, "continuing after epoch 2") &&
              contains(three.output, "3 ranks with 5 each"))
      << three.output;
}

TEST_F(Train, WhatMakesNoSenseIsOneLineBeforeAnyRankStarts) {
  const auto refused = [&](const Arguments& arguments, const std::string& words) {
    const auto said = run(small(arguments));
    EXPECT_EQ(said.exit_code, 2) << said.output;
    EXPECT_TRUE(contains(said.output, words)) << said.output;
    EXPECT_FALSE(contains(said.output, "rank")) << said.output;
  };
  refused({"--resume"}, "add --checkpoint FILE");
  refused({"--dir", folder_}, "--dir is the folder of MNIST");
  refused({"--lr", "nan"}, "--lr is nan; it must be a finite number greater than 0");
  for (const char* peak : {"0", "-1e9", "5x", "inf", "nan", "mat"})
    refused({"--peak-flops", peak},
            std::string(peak) + " is neither a number of FLOP/s, as 2e11 is, nor matmul");
  refused({"--lr", "0"}, "--lr is 0; it must be a finite number greater than 0");
  refused({"--momentum", "inf"}, "--momentum is inf; it must be a finite number, 0 or greater");
  refused({"--backend", "foo"}, "--backend takes one of");
  refused({"--nproc", "5000"}, "--nproc takes a number from 1 to 1024");
}

TEST_F(Train, NumbersThatMakeNoSenseAreOneShortLine) {
  for (const std::string option : {"--nproc", "--batch-size", "--samples"}) {
    const auto refused = run(small({option, "0"}));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.output, option + ": 0 is not greater than 0")) << refused.output;
  }
  for (const std::string option : {"--epochs", "--lr", "--momentum", "--seed"})
    EXPECT_TRUE(contains(run(small({option, "-1"})).output, option + ": -1 is less than 0"));
  EXPECT_TRUE(contains(run(small({"--epochs", "0"})).output, "--epochs: 0 is not greater than 0"));
  EXPECT_TRUE(
      contains(run(small({"--seed", "18446744073709551616"})).output, "18446744073709551616 is not a seed"));
}

TEST_F(Train, ACheckpointThatCannotBeWrittenIsToldAtOnce) {
  const auto nowhere = run(small({"--checkpoint", in_folder("none/checkpoint")}));
  EXPECT_NE(nowhere.exit_code, 0);
  EXPECT_TRUE(contains(nowhere.output, "there is no folder")) << nowhere.output;
  EXPECT_FALSE(contains(nowhere.output, "epoch 1")) << nowhere.output;
  const auto folder = run(small({"--checkpoint", folder_}));
  EXPECT_TRUE(contains(folder.output, "is a folder; name a file in it")) << folder.output;
  EXPECT_FALSE(contains(folder.output, "epoch 1")) << folder.output;
}

TEST_F(Train, WhatIsMissingHereIsExitCode3) {
  const auto said = run(small({"--backend", "mpi"}));  // not built in, or no mpirun has started these ranks
  EXPECT_EQ(said.exit_code, 3) << said.output;
  EXPECT_TRUE(contains(said.output, "use backend \"host\"")) << said.output;
}

TEST_F(Train, WhatIsPrintedInVainIsNoSuccess) {
  const auto through_shell = [&](const std::string& script) {
    Arguments all{"sh", "-c", script};
    std::ranges::copy(small({"--epochs", "2"}), std::back_inserter(all));
    return run(all);
  };
  const auto full = through_shell("\"$0\" \"$@\" > /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.output, "distlab: rank 0: standard output cannot be written: No space left on device\n");
  const auto left = through_shell("{ \"$0\" \"$@\"; echo \"code $?\" >&2; } | head -n 1");
  EXPECT_TRUE(contains(left.output, "code 141\n")) << "128 + SIGPIPE: " << left.output;
  EXPECT_FALSE(contains(left.output, "distlab:")) << left.output;
}

TEST_F(Train, AFolderOfPicturesThatCannotBeMadeIsToldAtOnce) {
  const auto file = in_folder("file");
  std::ofstream(file) << "no folder";
  const auto said = run(small({"--plot", file}));
  EXPECT_EQ(said.exit_code, 1) << said.output;
  EXPECT_TRUE(contains(said.output, "--plot " + file)) << said.output;
  EXPECT_FALSE(contains(said.output, "epoch 1")) << said.output;
}

TEST_F(Train, ARunThatIsOverSaysSo) {
  const auto file = in_folder("checkpoint");
  ASSERT_EQ(run(small({"--epochs", "1", "--checkpoint", file})).exit_code, 0);
  const auto again = run(small({"--epochs", "1", "--checkpoint", file, "--resume"}));
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_TRUE(contains(again.output, "epoch 1 is done already; to train longer: --epochs 2")) << again.output;
}

TEST_F(Train, ALossThatIsNoNumberIsReportedWithRankAndStep) {
  const auto file = in_folder("checkpoint");
  const auto said = run(small({"--lr", "1e30", "--epochs", "1", "--checkpoint", file}));
  EXPECT_EQ(said.exit_code, 1) << said.output;
  EXPECT_TRUE(std::regex_search(said.output, std::regex("the loss of rank [01] at step [1-6] is (nan|inf)")))
      << said.output;
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(Train, DrawsLossAndStepTimes) {
  const auto plots = folder_ / "deep" / "plots";
  ASSERT_EQ(run(small({"--epochs", "1", "--plot", plots})).exit_code, 0);
  EXPECT_TRUE(contains(content(plots / "loss.svg"), "loss of rank 0"));
  const std::string times = content(plots / "step_times.svg");
  for (const char* part : {"whole step", "forward", "backward", "exposed comm."})
    EXPECT_TRUE(contains(times, part)) << part;
}

TEST_F(Train, WritesATraceLikeEverythingElse) {
  const auto trace = in_folder("trace.json");
  ASSERT_EQ(run(with_environment("DIST_TRACE=" + trace, small({"--epochs", "1"}))).exit_code, 0);
  EXPECT_TRUE(contains(content(trace), "all_reduce"));
}

TEST_F(Train, UnderDistrunEveryProcessIsARankAndTheResultIsTheSame) {
  const auto spawned = in_folder("spawned"), launched = in_folder("launched");
  ASSERT_EQ(run(small({"--epochs", "1", "--checkpoint", spawned})).exit_code, 0);
  const auto said = run(under_distrun(small({"--epochs", "1", "--checkpoint", launched})));
  ASSERT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(content(launched) == content(spawned));
}

// Whoever gets the signal: the process that was started, one of its ranks, or distrun.
TEST_F(Train, ASignalSavesAndEndsARunAndResumeGoesOnWithTheSameBits) {
  const Arguments run_options{"--samples", "12800",         "--epochs", "4",
                              "--resume",  "--stop-signal", "USR1",     "--checkpoint"};
  const auto train_into = [&](const std::string& file, const Arguments& more) {
    Arguments all = run_options;
    all.push_back(file);
    all.insert(all.end(), more.begin(), more.end());
    return small(all);
  };
  struct Case {
    std::string scheme;
    int signal;
    bool under_distrun, to_a_rank;
  };
  for (const auto& [scheme, signal, by_distrun, to_a_rank] :
       {Case{"ddp", SIGTERM, false, false}, Case{"ddp", SIGUSR1, false, true},
        Case{"ps", SIGTERM, false, true}, Case{"ddp", SIGTERM, true, false}}) {
    SCOPED_TRACE(
        fmt::format("{}, signal {}, distrun {}, to a rank {}", scheme, signal, by_distrun, to_a_rank));
    const auto whole = in_folder("whole." + scheme), parts = in_folder("parts");
    fs::remove(parts);
    if (!fs::exists(whole)) {
      ASSERT_EQ(run(train_into(whole, {"--scheme", scheme})).exit_code, 0);
    }
    const auto command = train_into(parts, {"--scheme", scheme});
    dist_test::Running job(by_distrun ? under_distrun(command) : command);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    while (!fs::exists(parts) && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(fs::exists(parts)) << "no checkpoint of epoch 1";
    ::kill(to_a_rank ? children_of(job.pid()).back() : job.pid(), signal);
    const auto ran = job.wait(100);
    EXPECT_EQ(ran.code, 143) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "the run ends after step ")) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "it is saved in " + parts + ", and --resume continues it")) << ran.out;
    EXPECT_FALSE(content(parts) == content(whole));
    const auto rest = run(command);
    EXPECT_EQ(rest.exit_code, 0) << rest.output;
    EXPECT_TRUE(contains(rest.output, " of the next, from " + parts)) << rest.output;
    EXPECT_TRUE(content(parts) == content(whole));
  }
}

TEST_F(Train, ASignalWithoutACheckpointSaysThatNothingIsSaved) {
  dist_test::Running job(small({"--samples", "64000", "--epochs", "9"}));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  job.send_signal(SIGTERM);
  const auto ran = job.wait(60);
  EXPECT_EQ(ran.code, 143) << ran.err;
  EXPECT_TRUE(contains(ran.out, "SIGTERM: the run ends after step ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "nothing is saved, because there is no --checkpoint")) << ran.out;
  const auto wrong = run(small({"--stop-signal", "KILL"}));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.output, "KILL is not a signal that can be handled")) << wrong.output;
}

TEST_F(Train, ALauncherDecidesAndIsNamed) {
  const auto said = run(under_distrun(small({"--nproc", "3", "--epochs", "1"})));
  EXPECT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "distrun decides: this is rank 0 of 2 ranks, and --nproc 3 is ignored"))
      << said.output;
  const auto unread = run(with_environment("FLUX_TASK_RANK=1", small({})));
  EXPECT_NE(unread.exit_code, 0);
  EXPECT_TRUE(contains(unread.output, "FLUX_TASK_RANK is 1, so Flux started this process")) << unread.output;
  Arguments in_a_shell{"env", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_JOB_ID=7"};
  for (const auto& word : small({"--epochs", "1", "--checkpoint", in_folder("shell")}))
    in_a_shell.push_back(word);
  ASSERT_EQ(run(in_a_shell).exit_code, 0);
  ASSERT_EQ(run(small({"--epochs", "1", "--checkpoint", in_folder("plain")})).exit_code, 0);
  EXPECT_TRUE(content(in_folder("shell")) == content(in_folder("plain"))) << "two ranks there, too";
}

TEST_F(Train, OneRankIsOneRank) {
  const auto refused = run(small({"--scheme", "single"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.output, "--scheme single is for one rank, not for 2")) << refused.output;
  const auto file = in_folder("single"), ddp = in_folder("ddp");
  ASSERT_EQ(
      run(small({"--scheme", "single", "--nproc", "1", "--epochs", "1", "--checkpoint", file})).exit_code, 0);
  ASSERT_EQ(run(small({"--scheme", "ddp", "--nproc", "1", "--epochs", "1", "--checkpoint", ddp})).exit_code,
            0);
  EXPECT_TRUE(content(file) == content(ddp)) << "DDP of one rank is the model itself";
}

TEST_F(Train, ASchemeOfOneRankRefusesAJobOfSeveral) {
  for (const std::string scheme : {"dp", "single"}) {
    const auto said = run(under_distrun(small({"--scheme", scheme, "--nproc", "1"})));
    EXPECT_NE(said.exit_code, 0);
    EXPECT_TRUE(contains(said.output, "--scheme " + scheme + " is for one rank, but this job has 2"))
        << said.output;
  }
}

namespace {

// Files like MNIST's, with generated digits in them.
void write_like_mnist(const fs::path& folder, const std::string& name, int count, std::uint64_t collection) {
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
  };
  const auto size = static_cast<std::uint32_t>(count);
  std::ofstream images(folder / (name + "-images-idx3-ubyte"), std::ios::binary),
      labels(folder / (name + "-labels-idx1-ubyte"), std::ios::binary);
  images << number(0x803) << number(size) << number(28) << number(28);
  labels << number(0x801) << number(size);
  for (int i = 0; i < count; ++i) {
    const auto digit = dist::data::draw_digit(collection, i);
    images.write(reinterpret_cast<const char*>(digit.pixels.data()), 28 * 28);
    labels.put(static_cast<char>(digit.label));
  }
}

}  // namespace

TEST_F(Train, LearnsFromTheFilesOfMnist) {
  const auto missing = run(small({"--data", "mnist", "--dir", folder_}));
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_TRUE(contains(missing.output, "`./distlab data mnist` says where to get it")) << missing.output;
  write_like_mnist(folder_, "train", 1200, 1);
  write_like_mnist(folder_, "t10k", 100, 2);
  Arguments all{DISTLAB_PROGRAM, "train",
                "--nproc",       "2",
                "--data",        "mnist",
                "--dir",         folder_,
                "--batch-size",  "16",
                "--epochs",      "1",
                "--checkpoint",  in_folder("checkpoint")};
  const auto said = run(all);
  EXPECT_EQ(said.exit_code, 0) << said.output;
  EXPECT_TRUE(contains(said.output, "of 100)")) << said.output;
  EXPECT_GT(right_of(said.output), 50) << said.output;
  const auto more = run(small({"--data", "mnist", "--dir", folder_, "--samples", "1201"}));
  EXPECT_TRUE(contains(more.output, "--samples is 1201, but MNIST in " + folder_.string() + " has only 1200"))
      << more.output;
  const auto digits =
      run(small({"--samples", "1200", "--epochs", "2", "--resume", "--checkpoint", in_folder("checkpoint")}));
  EXPECT_TRUE(contains(digits.output, "is from a run with mnist = 1, but this run has 0")) << digits.output;
}

TEST_F(Train, AKilledRankIsStartedAgainAndNothingIsLost) {
  const auto whole = in_folder("whole"), file = in_folder("checkpoint");
  const Arguments longer{"--samples", "1600", "--epochs", "3", "--resume", "--checkpoint"};
  const auto train_into = [&](const std::string& checkpoint) {
    Arguments all = longer;
    all.push_back(checkpoint);
    return small(all);
  };
  ASSERT_EQ(run(train_into(whole)).exit_code, 0);
  Arguments command{DISTRUN_PROGRAM, "--nproc-per-node", "2", "--max-restarts", "1"};
  for (const auto& argument : train_into(file)) command.push_back(argument);
  dist_test::Running job(command);
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  while (!fs::exists(file) && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(fs::exists(file)) << "no checkpoint of epoch 1";
  const auto ranks = children_of(job.pid());
  ASSERT_GE(ranks.size(), 2U);
  ::kill(ranks.back(), SIGKILL);  // in epoch 2
  const auto ran = job.wait(200);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "continuing after epoch ")) << ran.out << ran.err;
  EXPECT_TRUE(content(file) == content(whole));
}
