// The grading of lab 16. Every rank is a process of its own in the grader's simulation. It trains a small
// model on samples that the grader knows, and the grader trains it once more by itself: the right samples
// must be read, the numbers must be right, and a run that was killed must continue as if it had not been
// interrupted.
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::Random, judge::worth;
using namespace lab16;

Asked draw_epochs(Random& random, int ranks) {
  Asked asked = draw_asked(random, ranks);
  const int first = random.between(1, 5);
  asked.epochs = {first, first + 1};
  return asked;
}

Asked draw_run(Random& random, int ranks) {
  Asked asked = draw_asked(random, ranks);
  asked.epochs = {0, 1, 2};
  return asked;
}

// -------------------------------------------------------------------------------------- part 1: train_step

TEST(Part1Step, gradients_of_this_batch_alone) {
  worth(8, 1);
  Random random("steps");
  expect_steps(random, Look::weights);
}

TEST(Part1Step, its_loss) {
  worth(4, 1);
  Random random("losses");
  expect_steps(random, Look::loss);
}

// ------------------------------------------------------------------------------------- part 2: train_epoch

TEST(Part2Epoch, an_order_for_each_epoch) {
  worth(6, 2);
  Random random("orders");
  expect_epochs(draw_epochs(random, random.between(2, 4)), Look::order);
}

TEST(Part2Epoch, in_training_mode) {
  worth(4, 2);
  Random random("mode");
  expect_epochs(draw_epochs(random, 1), Look::mode);
}

TEST(Part2Epoch, a_step_for_each_batch) {
  worth(4, 2);
  Random random("epochs");
  for (const int ranks : {1, random.between(2, 4)}) {
    expect_epochs(draw_epochs(random, ranks), Look::weights);
    if (HasFailure()) return;
  }
}

TEST(Part2Epoch, mean_loss_over_all_samples) {
  worth(6, 2);
  Random random("mean loss");
  expect_epochs(draw_epochs(random, random.between(2, 4)), Look::loss);
}

// ---------------------------------------------------------------------------------------- part 3: evaluate

TEST(Part3Evaluate, every_sample_once) {
  worth(8, 3);
  Random random("evaluate");
  for (const int ranks : {2, random.between(3, 4), 1}) {
    Asked asked = draw_asked(random, ranks);
    asked.same_models = true;
    asked.test_samples = ranks * random.between(4, 9) + 1;
    expect_accuracy(asked);
    if (HasFailure()) return;
  }
}

TEST(Part3Evaluate, a_rank_without_samples) {
  worth(4, 3);
  Random random("none");
  Asked asked = draw_asked(random, 4);
  asked.same_models = true;
  asked.test_samples = random.between(1, 3);
  expect_accuracy(asked);
}

TEST(Part3Evaluate, the_model_of_rank_0_in_evaluation_mode) {
  worth(8, 3);
  Random random("whose");
  Asked asked = draw_asked(random, random.between(2, 4));
  asked.test_samples = random.between(20, 40);
  expect_accuracy(asked);
}

// ------------------------------------------------------------------------------------- part 4: checkpoints

TEST(Part4Checkpoint, rank_0_writes) {
  worth(5, 4);
  Random random("writers");
  for (const int ranks : {random.between(2, 3), 4}) {
    Asked asked = draw_asked(random, ranks);
    asked.same_models = true;
    expect_one_writer(asked);
    if (HasFailure()) return;
  }
}

TEST(Part4Checkpoint, everything_comes_back) {
  worth(9, 4);
  Random random("back");
  Asked asked = draw_asked(random, 2);
  asked.same_models = true;
  expect_everything_back(asked, random.between(2, 9));
}

// ------------------------------------------------------------------------------------- part 5: train_model

TEST(Part5Train, as_one_process_does) {
  worth(10, 5);
  Random random("run");
  for (const int ranks : {2, 1, 4}) {
    expect_run(draw_run(random, ranks));
    if (HasFailure()) return;
  }
  Asked none = draw_asked(random, random.between(2, 3));
  none.epochs = {};
  expect_run(none);
}

TEST(Part5Train, a_checkpoint_after_each_epoch) {
  worth(4, 5);
  Random random("each epoch");
  expect_checkpoint_each_epoch(draw_run(random, 2));
  if (!HasFailure()) expect_nothing_left(draw_run(random, 2));
}

TEST(Part5Train, killed_and_resumed) {
  worth(12, 5);
  Random random("killed");
  for (const int ranks : {2, 1, 4}) {
    expect_resumed(draw_run(random, ranks), random.between(1, 2));
    if (HasFailure()) return;
  }
  expect_resumed(draw_run(random, 2), 0);  // killed before the first checkpoint
  if (HasFailure()) return;
  expect_begun_anew(draw_run(random, 2));
  if (HasFailure()) return;
  expect_never_without(draw_run(random, 2));
}

TEST(Part5Train, learns_digits) {
  worth(8, 5);
  expect_digits();
}

}  // namespace
