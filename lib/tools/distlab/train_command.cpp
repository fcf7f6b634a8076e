// distlab train: a ConvNet learns digits, or a GPT learns to write, on several ranks.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/handles.h"
#include "dist/dist.h"
#include "dist/group/join/environment.h"
#include "dist/nn/settings.h"

#include "distlab/commands.h"
#include "distlab/process.h"
#include "distlab/terminal.h"
#include "distlab/train/check_options.h"
#include "distlab/train/ending.h"
#include "distlab/train/models.h"
#include "distlab/train/scheme.h"
#include "distlab/train/text/generate.h"
#include "distlab/train/text/mesh_trainer.h"
#include "distlab/train/text/simulated.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace {

// Returns the number of ranks or threads, depending on the scheme.
int workers_for(const TrainOptions& options) {
  if (!options.text.mesh.empty()) return ranks_of_mesh(options);
  if (scheme_named(options.scheme).workers == Workers::one) return 1;
  if (options.ranks > 0) return options.ranks;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 2U));
}

void train_on_this_rank(const TrainOptions& options) {
  dist::nn::set_num_threads(options.threads);
  dist::init_process_group({.backend = options.backend});
  expect_same_options(options);
  note_requests_to_end(options.stop_signal);  // a rank that only waits for the others ends at once
  model_named(options.model).train(options);
  dist::destroy_process_group();
}

// Tells the parent that a rank lacked something: dist::spawn passes on the text of a rank's error, but not
// its code.
class MissingPart {
 public:
  MissingPart() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      dist::fail_errno(dist::Errc::resource, errno, "cannot make a pipe");
    heard_ = dist::UniqueFd(ends[0]);
    told_ = dist::UniqueFd(ends[1]);
  }
  void tell() const { (void)!::write(told_.get(), "!", 1); }  // a rank calls it
  bool is_told() const {
    char byte = 0;
    return ::read(heard_.get(), &byte, 1) > 0;
  }

 private:
  dist::UniqueFd heard_, told_;
};

void train_on_ranks(int ranks, const TrainOptions& options) {
  const MissingPart missing;
  try {
    dist::spawn(ranks, [&](int) {
      try {
        train_on_this_rank(options);
      } catch (const dist::Error& error) {
        if (error.code() == dist::Errc::unsupported) missing.tell();
        throw;
      }
    });
  } catch (const dist::Error& error) {
    if (!stdout_has_reader()) throw Interrupted{SIGPIPE};
    if (missing.is_told()) throw dist::Error(dist::Errc::unsupported, error.what());
    throw;
  }
}

// What a launcher decides is not what the command line says: rank 0 says so, before training begins.
void say_who_launched(const TrainOptions& options) {
  const dist::LaunchInfo launch = dist::read_environment();
  if (launch.rank != 0) return;
  const std::string who = launch.launcher == "env" ? "RANK and WORLD_SIZE" : launch.launcher;
  std::string text =
      fmt::format("{} decides: this is rank 0 of {}", who, dist::counted(launch.world_size, "rank"));
  const bool counts_ranks = scheme_named(options.scheme).workers == Workers::ranks;
  if (counts_ranks && options.ranks > 0 && options.ranks != launch.world_size)
    text += fmt::format(", and --nproc {} is ignored", options.ranks);
  fmt::print(stderr, "distlab: {}\n", text);
}

int simulated(const TrainOptions& options) try {
  simulate_training(options);
  flush_stdout();
  return exit_ok;
} catch (const dist::Error& error) {
  if (error.code() == dist::Errc::invalid_argument) return wrong_usage(error);
  throw;
}

}  // namespace

int train(const TrainOptions& options) {
  try {
    check(options);
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::resource) return wrong_usage(error);
    fmt::print(stderr, "distlab: {}\n", error.what());
    return exit_missing;
  }
  if (options.model == "gpt" && !options.text.simulate.empty()) return simulated(options);
  if (options.model == "gpt" && options.text.steps == 0 && options.text.mesh.empty()) {
    fmt::print("{}\n", use_without_training(options));
    flush_stdout();
    return exit_ok;
  }
  if (options.text.verify) ::setenv("DIST_DEBUG", "detail", 0);  // names the layer whose ranks differ
  TrainOptions complete = options;
  complete.ranks = workers_for(options);
  if (options.text.steps == 0) complete.resume = true;  // a checkpoint of a mesh, to sample from
  const int ranks = scheme_named(options.scheme).workers == Workers::ranks ? complete.ranks : 1;
  if (dist::is_launched()) {
    say_who_launched(options);
    train_on_this_rank(complete);
  } else {
    note_requests_to_end(options.stop_signal);  // before the ranks are forked: a request to one is for all
    train_on_ranks(ranks, complete);
  }
  return has_ended_early() ? exit_asked_to_end : exit_ok;
}

}  // namespace distlab
