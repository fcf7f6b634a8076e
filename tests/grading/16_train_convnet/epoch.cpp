// Lab 16, parts 1 and 2: a step, and an epoch of steps.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support.h"

namespace lab16 {
namespace {

using judge::misconception;

const std::vector<Idea>& step_ideas() {
  static const std::vector<Idea> known{
      {"adds_to_old_gradients",
       "backward adds to the gradients that are already there, so each step includes all batches before it; "
       "fix: call zero_grad() before backward",
       {.zeroes = false, .dirt = 3}},
      {"zeroes_before_the_step",
       "the gradients were zero when the optimizer took its step; fix: call zero_grad() before backward, not "
       "after it",
       {.keeps_gradients = false}}};
  return known;
}

const std::vector<Idea>& epoch_ideas() {
  static const std::vector<Idea> known{
      {"adds_to_old_gradients",
       "the gradients include those of the batches before; fix: call zero_grad() before each backward",
       {.zeroes = false}},
      {"trains_in_evaluation_mode",
       "the model was in evaluation mode, in which batch norm uses the running statistics and does not "
       "update them; fix: call model.train() first",
       {.in_training_mode = false}},
      {"set_epoch_forgotten",
       "every epoch had the order of epoch 0; fix: call sampler.set_epoch(epoch) on all ranks",
       {.sets_epoch = false}},
      {"trains_alone",
       "the ranks took steps with gradients of their own; fix: run forward and backward through the "
       "DistributedDataParallel",
       {.averages = false}}};
  return known;
}

Reads sorted(Reads reads) {
  std::ranges::sort(reads);
  return reads;
}

void diagnose_order(const Asked& asked, const std::vector<Json>& replies) {
  bool as_epoch_0 = true, shorter = true;
  for (int rank = 0; rank < asked.ranks; ++rank) {
    for (const auto& reads : replies[static_cast<std::size_t>(rank)].at("reads")) {
      const Reads got = reads;
      as_epoch_0 = as_epoch_0 && sorted(got) == sorted(share(asked, rank, 0, asked.seed));
      shorter =
          shorter && std::ssize(got) == std::ssize(share(asked, rank, 0, 0)) / asked.batch * asked.batch;
    }
  }
  if (as_epoch_0)
    misconception("set_epoch_forgotten",
                  "every epoch has the order of epoch 0, because the sampler shuffles by seed + epoch; fix: "
                  "call sampler.set_epoch(epoch) on all ranks");
  else if (shorter)
    misconception("drops_the_last_batch",
                  "samples of the last, smaller batch were left out; fix: train on them, too");
}

void check_order(const Asked& asked, const std::vector<Json>& replies) {
  for (int rank = 0; rank < asked.ranks; ++rank) {
    for (std::size_t i = 0; i < asked.epochs.size(); ++i) {
      const Reads right = share(asked, rank, asked.epochs[i], asked.seed);
      const Reads got = replies[static_cast<std::size_t>(rank)].at("reads").at(i);
      if (sorted(right) == sorted(got)) continue;
      diagnose_order(asked, replies);
      ADD_FAILURE() << fmt::format(
          "train_epoch, epoch {}, {} ranks: rank {} must read the samples {}; it read {}", asked.epochs[i],
          asked.ranks, rank, right, got);
      return;
    }
  }
}

void check_mode(const std::vector<Json>& replies) {
  for (const Json& reply : replies) {
    const std::int64_t wrong = reply.at("evaluated");
    if (wrong == 0) continue;
    misconception(
        "trains_in_evaluation_mode",
        "an evaluation before has left the model in evaluation mode, in which batch norm uses the running "
        "statistics and does not update them; fix: call model.train() at the beginning of each epoch");
    ADD_FAILURE() << fmt::format(
        "train_epoch of a model that arrives in evaluation mode: {} of {} samples went through it in that "
        "mode",
        wrong, wrong + reply.at("trained").get<std::int64_t>());
    return;
  }
}

void check_weights(const Asked& asked, const std::vector<Json>& replies) {
  const auto right = trained(asked);
  const auto fits = [&](const Trained& theirs) {
    for (std::size_t rank = 0; rank < replies.size(); ++rank)
      if (distance(theirs.numbers[rank], numbers_of(replies[rank].at("numbers"))) > near) return false;
    return true;
  };
  if (fits(right)) return;
  for (const Idea& idea : epoch_ideas()) {
    if (!fits(trained(asked, idea.way))) continue;
    misconception(idea.name, idea.in_words);
    break;
  }
  const auto got = numbers_of(replies[0].at("numbers"));
  ADD_FAILURE() << fmt::format(
      "train_epoch, epochs {} on {} ranks: the model is not the one that these steps produce; on rank 0 it "
      "is a relative distance of {:.1e} from it",
      asked.epochs, asked.ranks, distance(right.numbers[0], got));
}

void diagnose_loss(const Trained& right, const std::vector<Numbers>& got) {
  bool batches = true, own = true;
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    for (std::size_t i = 0; i < right.losses.size(); ++i) {
      batches = batches && is_near(right.batch_means[i], got[rank].at(i));
      own = own && is_near(right.own_losses[i][rank], got[rank].at(i));
    }
  }
  if (own)
    misconception("loss_of_one_rank",
                  "each rank returned the loss of its own part; fix: sum losses and counts over all ranks "
                  "with all_reduce");
  else if (batches)
    misconception("mean_of_batch_means",
                  "the last, smaller batch counts as much as the others; fix: sum losses times batch sizes, "
                  "and divide by the sum of the sizes");
}

void check_loss(const Asked& asked, const std::vector<Json>& replies) {
  const auto right = trained(asked);
  std::vector<Numbers> got;
  for (const Json& reply : replies) got.push_back(numbers_of(reply.at("losses")));
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    for (std::size_t i = 0; i < right.losses.size(); ++i) {
      if (is_near(right.losses[i], got[rank].at(i))) continue;
      diagnose_loss(right, got);
      ADD_FAILURE() << fmt::format(
          "train_epoch, epoch {}: the mean loss over the samples of all {} ranks is {:.6f}; rank {} returned "
          "{:.6f}",
          asked.epochs[i], asked.ranks, right.losses[i], rank, got[rank].at(i));
      return;
    }
  }
}

}  // namespace

void expect_steps(judge::Random& random, Look look) {
  const Asked asked = draw_asked(random, 1);
  std::vector<Reads> batches;
  for (int i = 0; i < 4; ++i) {
    batches.emplace_back();
    for (int k = random.between(2, 6); k > 0; --k)
      batches.back().push_back(random.between(0, static_cast<int>(asked.samples) - 1));
  }
  const auto replies = answers(run(asked, "step", {{"batches", batches}}));
  if (replies.empty()) return;
  const auto right = stepped(asked, batches);
  const auto got = numbers_of(replies[0].at(look == Look::loss ? "losses" : "numbers"));
  const auto of = [&](const Trained& run) { return look == Look::loss ? run.losses : run.numbers[0]; };
  const double apart = distance(of(right), got);
  if (apart < near) return;
  for (const Idea& idea : step_ideas()) {
    if (distance(of(stepped(asked, batches, idea.way)), got) > near) continue;
    misconception(idea.name, idea.in_words);
    break;
  }
  ADD_FAILURE() << fmt::format(
      "train_step on {} batches, one after another, lr {}, momentum {}: {} a relative distance of {:.1e} "
      "from the right ones",
      batches.size(), asked.lr, asked.momentum,
      look == Look::loss ? "the returned losses have" : "the model's numbers have", apart);
}

void expect_epochs(const Asked& asked, Look look) {
  const auto replies = answers(run(asked, "epochs", {{"epochs", asked.epochs}}));
  if (replies.empty()) return;
  switch (look) {
    case Look::order: return check_order(asked, replies);
    case Look::mode: return check_mode(replies);
    case Look::weights: return check_weights(asked, replies);
    case Look::loss: return check_loss(asked, replies);
  }
}

}  // namespace lab16
