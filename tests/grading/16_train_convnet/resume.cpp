// Lab 16, part 5: a run that is killed and continues from its checkpoint.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "replies.h"

namespace lab16 {
namespace {

using judge::misconception;

// What is in the folders after a run that was killed in epoch `killed_in`: rank 0's file, or nothing.
struct Killed {
  bool well = false;
  Json file;
};

Killed killed_run(const Asked& asked, int killed_in) {
  const auto reads = killed_in * share_size(asked) + share_size(asked) / 2;
  const auto replies = answers(run(asked, "train", plan_of(asked, true, {{"kill_after", reads}})));
  if (replies.empty()) return {};
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const int files = replies[rank].at("folder").at("files");
    if (files == (rank == 0 && killed_in > 0 ? 1 : 0)) continue;
    if (rank > 0)
      misconception("every_rank_writes",
                    "several ranks wrote the checkpoint; fix: let only rank 0 write it, because all ranks "
                    "have the same state");
    else if (killed_in > 0)
      misconception("writes_at_the_end_only",
                    "a run that is killed never reaches its end; fix: write the checkpoint after each epoch");
    ADD_FAILURE() << fmt::format("train_model, killed in epoch {}: there are {} files where rank {} writes",
                                 killed_in, files, rank);
    return {};
  }
  return {true, replies[0].at("folder").at("bytes")};
}

void done_off_by_one() {
  misconception("epochs_done_off_by_one",
                "the checkpoint says one complete epoch less than there are, so the resumed run repeats one; "
                "fix: epochs_done is how many epochs are complete: after epoch 0 it is 1");
}

// How many epochs are complete, as load_checkpoint says; -1: it does not say.
int epochs_done(const Asked& asked, const Json& file) {
  const auto done = run(asked, "load", {{"file", file}});
  if (!done.report.failures.empty() || !done.report.findings.empty()) return -1;
  const auto replies = answers(done);
  return replies.empty() ? -1 : replies[0].at("epochs_done").get<int>();
}

// Whether a checkpoint has these numbers of the model, and says one epoch less than all.
bool is_of_the_last_epoch(const Asked& asked, const Json& file, const Json& numbers) {
  const auto done = run(asked, "load", {{"file", file}});
  if (!done.report.failures.empty() || !done.report.findings.empty()) return false;
  const auto replies = answers(done);
  return !replies.empty() && replies[0].at("state").at("model") == numbers &&
         replies[0].at("epochs_done").get<int>() == std::ssize(asked.epochs) - 1;
}

bool check_resumed_reads(const Asked& asked, int killed_in, const Json& file,
                         const std::vector<Json>& replies) {
  const auto left = asked.epochs.size() - static_cast<std::size_t>(killed_in);
  const auto read = static_cast<std::size_t>(std::ssize(replies[0].at("reads")) / share_size(asked));
  const auto go_on = [&](std::size_t i) { return static_cast<int>(i) + killed_in; };
  if (read == left && has_read(asked, replies, left, go_on)) return true;
  if (read > left && epochs_done(asked, file) == killed_in - 1)
    done_off_by_one();
  else if (read > left)
    misconception("resume_repeats_epochs",
                  "the resumed run repeated epochs that were complete; fix: begin with the number that "
                  "load_checkpoint returns");
  else if (read == left && has_read(asked, replies, left, [](std::size_t i) { return static_cast<int>(i); }))
    misconception("resume_counts_epochs_from_0",
                  "the resumed run read the samples in the order of epochs 0, 1, ...; fix: continue the "
                  "sampler's epochs where the first run stopped");
  ADD_FAILURE() << fmt::format(
      "train_model, {} epochs, {} of them complete before a resume: rank 0 must read {} more samples, first "
      "its part of epoch {}, {}; it has read {} samples, first {}",
      asked.epochs.size(), killed_in, static_cast<std::int64_t>(left) * share_size(asked), killed_in,
      right_reads(asked, 0, killed_in), replies[0].at("reads").size(), epoch_reads(asked, replies[0], 0));
  return false;
}

constexpr const char* other_buckets_in_words =
    "the numbers are right except for their last bits, because the first step after a resume had other "
    "buckets; fix: create DistributedDataParallel with same_buckets, as the contract says";

void diagnose_resumed(const Asked& asked, int killed_in, const std::vector<Json>& replies) {
  diagnose_numbers(
      asked, replies[0].at("numbers"),
      {{"adds_in_another_order", other_buckets_in_words, {}},
       {"momentum_lost",
        "the optimizer began anew, without its momentum; fix: save and load its state with the checkpoint",
        {.forgets_momentum_before = killed_in}},
       {"only_rank_0_resumes",
        "DDP sends rank 0's weights but not the optimizer's state, so on the other ranks the momentum began "
        "anew and the models drifted apart; fix: read the checkpoint on every rank",
        {.others_forget_momentum_before = killed_in}},
       {"running_statistics_lost",
        "the running statistics began anew; fix: save and load the model's buffers with the checkpoint",
        {.forgets_statistics_before = killed_in}}});
}

// One result for each epoch that the resumed run has run, the same as those of the run that was not killed.
bool check_resumed_results(const Asked& asked, int killed_in, const Json& whole, const Json& resumed) {
  const auto left = asked.epochs.size() - static_cast<std::size_t>(killed_in);
  if (resumed.size() != left) {
    if (resumed.size() == asked.epochs.size())
      misconception("results_of_epochs_not_run",
                    "the list has a result for every epoch of the plan; fix: return those of the epochs that "
                    "this call has run");
    ADD_FAILURE() << fmt::format(
        "train_model, {} epochs, {} of them complete before a resume: it returned {} results; expected {}",
        asked.epochs.size(), killed_in, resumed.size(), left);
    return false;
  }
  for (std::size_t i = 0; i < left; ++i) {
    const Json& right = whole.at(i + static_cast<std::size_t>(killed_in));
    if (resumed[i] == right) continue;
    ADD_FAILURE() << fmt::format(
        "train_model, resumed after {} epochs: result {} is {}; expected that of epoch {} of the run that "
        "was "
        "not killed, {}",
        killed_in, i, resumed[i].dump(), i + static_cast<std::size_t>(killed_in), right.dump());
    return false;
  }
  return true;
}

}  // namespace

void expect_never_without(const Asked& asked) {
  const auto replies = answers(run(asked, "save", {{"epochs_done", 1}, {"old", true}}));
  if (replies.empty()) return;
  if (replies[0].at("was_overwritten")) {
    misconception("overwrites_the_old_checkpoint",
                  "a run that is killed while it writes, or copies, over its checkpoint has neither the old "
                  "nor the new one; fix: write another file beside it, and rename that one to its name when "
                  "it is complete, as save_safetensors() does");
    ADD_FAILURE() << "save_checkpoint writes the new checkpoint into the old file; it must take its place";
    return;
  }
  if (!replies[0].at("was_without")) return;
  misconception(
      "a_moment_without_a_checkpoint",
      "a run that is killed while it saves has no checkpoint; fix: leave the old file where it is, and let "
      "save_safetensors() put the new one in its place when it is complete");
  ADD_FAILURE() << "save_checkpoint removes the old checkpoint before the new one is in its place";
}

void expect_checkpoint_each_epoch(const Asked& asked) {
  const auto killed = killed_run(asked, 1);
  if (killed.well && killed.file.is_null())
    ADD_FAILURE() << "train_model has written a file, but not at the plan's path";
}

void expect_nothing_left(const Asked& asked) {
  const auto whole = answers(run(asked, "train", plan_of(asked, true)));
  if (whole.empty()) return;
  const Json& file = whole[0].at("folder").at("bytes");
  const auto replies = answers(run(asked, "train", plan_of(asked, true, {{"file", file}, {"resume", true}})));
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const std::size_t read = replies[rank].at("reads").size();
    if (read == 0 && replies[rank].at("numbers") == whole[rank].at("numbers")) continue;
    if (read > 0 && is_of_the_last_epoch(asked, file, whole[0].at("numbers")))
      done_off_by_one();
    else if (read > 0)
      misconception("no_checkpoint_of_the_last_epoch",
                    "the checkpoint of a complete run is that of an earlier epoch, so a resumed run repeats "
                    "what was done; fix: write it after each epoch, the last one included");
    ADD_FAILURE() << fmt::format(
        "train_model, {} epochs, resumed when all of them are complete: rank {} must read no sample and end "
        "with the same model; it has read {} samples, and the model is {}",
        asked.epochs.size(), rank, read,
        replies[rank].at("numbers") == whole[rank].at("numbers") ? "the same" : "another one");
    return;
  }
}

void expect_resumed(const Asked& asked, int killed_in) {
  const auto killed = killed_run(asked, killed_in);
  if (!killed.well) return;
  const auto whole = answers(run(asked, "train", plan_of(asked, true)));
  if (whole.empty()) return;
  const auto resumed = run(asked, "train", plan_of(asked, true, {{"file", killed.file}, {"resume", true}}));
  if (killed.file.is_null() && !resumed.report.failures.empty())
    misconception("resumes_without_a_file",
                  "the same run is right without resume; with it, it ends with an error, because no "
                  "checkpoint has been written yet; fix: load the checkpoint only if the file exists");
  const auto replies = answers(resumed);
  if (replies.empty() || !check_resumed_reads(asked, killed_in, killed.file, replies)) return;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (replies[rank].at("numbers") == whole[rank].at("numbers")) continue;
    diagnose_resumed(asked, killed_in, replies);
    ADD_FAILURE() << fmt::format(
        "train_model on {} ranks, killed in epoch {} and resumed: at the end the model of rank {} is not "
        "that of "
        "a run that was not killed, at a relative distance of {:.1e}",
        asked.ranks, killed_in, rank,
        distance(numbers_of(whole[rank].at("numbers")), numbers_of(replies[rank].at("numbers"))));
    return;
  }
  if (!check_resumed_results(asked, killed_in, whole[0].at("results"), replies[0].at("results"))) return;
  // With a model as small as this, whether the last bits differ is a matter of chance.
  if (whole[0].at("orders") <= 1) return;
  misconception("adds_in_another_order", other_buckets_in_words);
  ADD_FAILURE() << fmt::format(
      "train_model on {} ranks: in the first step of a run the gradients are in a different order from "
      "later, so "
      "they are added in another order; a resumed run has a first step, too",
      asked.ranks);
}

void expect_begun_anew(const Asked& asked) {
  const auto old = killed_run(asked, 1);
  if (!old.well) return;
  const auto whole = answers(run(asked, "train", plan_of(asked, true)));
  const auto replies = answers(run(asked, "train", plan_of(asked, true, {{"file", old.file}})));
  if (whole.empty() || replies.empty()) return;
  if (replies[0].at("reads") == whole[0].at("reads") && replies[0].at("numbers") == whole[0].at("numbers"))
    return;
  misconception("resumes_unasked",
                "the run does not begin anew; fix: read the checkpoint only if the plan says resume, and let "
                "the new checkpoints replace the old one");
  ADD_FAILURE() << fmt::format(
      "train_model, {} epochs, without resume, with another run's checkpoint in place: rank 0 must read {} "
      "samples and end with the model of a run that finds no file; it has read {} samples",
      asked.epochs.size(), whole[0].at("reads").size(), replies[0].at("reads").size());
}

}  // namespace lab16
