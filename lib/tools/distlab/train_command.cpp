// distlab train: a ConvNet learns digits, on several ranks.
#include <algorithm>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "dist/dist.h"
#include "dist/group/environment.h"

#include "distlab/commands.h"
#include "distlab/train/check_options.h"
#include "distlab/train/datasets.h"
#include "distlab/train/scheme.h"
#include "distlab/train/trainer.h"
#include "distlab/wrong_usage.h"

namespace distlab {
namespace {

// Ranks or threads, as the scheme has.
int workers_for(const TrainOptions& options) {
  if (scheme_named(options.scheme).workers == Workers::one) return 1;
  if (options.ranks > 0) return options.ranks;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 2U));
}

void train_on_this_rank(const TrainOptions& options) {
  dist::init_process_group({.backend = options.backend});
  Trainer(options).run();
  dist::destroy_process_group();
}

}  // namespace

int train(const TrainOptions& options) {
  try {
    check(options);
    expect_files(options);
  } catch (const dist::Error& error) {
    if (error.code() != dist::Errc::resource) return wrong_usage(error);
    fmt::print(stderr, "distlab: {}\n", error.what());
    return exit_missing;
  }
  TrainOptions complete = options;
  complete.ranks = workers_for(options);
  const int ranks = scheme_named(options.scheme).workers == Workers::ranks ? complete.ranks : 1;
  if (dist::is_launched())
    train_on_this_rank(complete);
  else
    dist::spawn(ranks, [&](int) { train_on_this_rank(complete); });
  return exit_ok;
}

}  // namespace distlab
