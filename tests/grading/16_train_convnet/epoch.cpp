// Lab 16, parts 1 and 2: a step, and an epoch of them.
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
       "backward adds to what the gradients hold already, so that each step is pushed by all batches before "
       "it: zero_grad() first",
       {.zeroes = false, .dirt = 3}},
      {"zeroes_before_the_step",
       "the gradients were zero when the optimizer took its step: zero_grad() comes before backward, not "
       "after it",
       {.keeps_gradients = false}}};
  return known;
}

const std::vector<Idea>& epoch_ideas() {
  static const std::vector<Idea> known{
      {"adds_to_old_gradients",
       "the gradients hold those of the batches before, too: zero_grad() before each backward",
       {.zeroes = false}},
      {"trains_in_evaluation_mode",
       "the model was in evaluation mode: batch norm took the running statistics, and they did not move",
       {.in_training_mode = false}},
      {"set_epoch_forgotten",
       "every epoch had the order of epoch 0: sampler.set_epoch(epoch), on all ranks",
       {.sets_epoch = false}},
      {"trains_alone",
       "the ranks have taken steps with gradients of their own: it is the DistributedDataParallel that goes "
       "through forward and backward",
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
      shorter = shorter && std::ssize(got) == asked.samples / asked.ranks / asked.batch * asked.batch;
    }
  }
  if (as_epoch_0)
    misconception("set_epoch_forgotten",
                  "every epoch has the order of epoch 0: the sampler shuffles by seed + epoch, and must be "
                  "told, sampler.set_epoch(epoch), on all ranks");
  else if (shorter)
    misconception("drops_the_last_batch",
                  "the last batch is smaller, and its samples are as good as the others");
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
    misconception("trains_in_evaluation_mode",
                  "an evaluation before has left the model in evaluation mode, where batch norm takes the "
                  "running statistics and does not move them: model.train() at the beginning of each epoch");
    ADD_FAILURE() << fmt::format(
        "train_epoch of a model that comes in evaluation mode: {} of {} samples went through it in that mode",
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
      "train_epoch, epochs {} on {} ranks: the model is not what these steps make of it, a relative distance "
      "of "
      "{:.1e} on rank 0",
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
                  "each rank returned the loss of its own share: sums and counts of all ranks are needed, by "
                  "all_reduce");
  else if (batches)
    misconception("mean_of_batch_means",
                  "the last batch is smaller, and counted as much as the others: add up losses times batch "
                  "sizes, and the sizes");
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
      "train_step on {} batches, one after the other, lr {}, momentum {}: {} a relative distance of {:.1e} "
      "from "
      "the right ones",
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
