// Lab 01, parts 4 and 5: texts as tensors of a fixed size.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/sim_run.h"
#include "support.h"

namespace lab01 {
namespace {

using judge::misconception, judge::shown;

// The characters of `text` that fit into `size` bytes. A character's first byte tells its length.
std::string fitting(const std::string& text, std::size_t size) {
  std::size_t end = 0;
  while (end < text.size()) {
    const auto first = static_cast<unsigned char>(text[end]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (end + length > size) break;
    end += length;
  }
  return text.substr(0, end);
}

std::string with_zeros(std::string bytes, std::size_t size) {
  bytes.resize(size, '\0');
  return bytes;
}

std::string padded(const Packing& one) {
  const auto size = static_cast<std::size_t>(one.size);
  return with_zeros(fitting(one.text, size), size);
}

// What a submission packs that keeps the last byte free.
std::string terminated(const Packing& one) {
  const auto size = static_cast<std::size_t>(one.size);
  return with_zeros(fitting(one.text, size - std::min<std::size_t>(size, 1)), size);
}

// The text without its last character if that character has several bytes.
std::string without_its_last(const std::string& text) {
  const bool has_several = !text.empty() && static_cast<unsigned char>(text.back()) >= 0x80;
  return has_several ? fitting(text, text.size() - 1) : text;
}

void cut_within_a_character() {
  misconception("cut_within_a_character",
                "the text is cut in the middle of a character: a character takes up to four bytes in UTF-8, "
                "and a part of one is not valid UTF-8; fix: cut before the character that does not fit");
}

// `keeps_one_free`: each of the answers has a zero at its end.
void diagnose_packed(const Packing& one, const std::string& bytes, bool keeps_one_free) {
  const auto size = static_cast<std::size_t>(one.size);
  const auto kept = fitting(one.text, size);
  const auto next_text_byte = one.text.substr(0, size);
  if (bytes.size() == size && one.text.size() > size && bytes == next_text_byte) {
    cut_within_a_character();
  } else if (bytes.size() == size && bytes.substr(0, kept.size()) == kept) {
    misconception("not_padded",
                  "the bytes after the text are not zero: whatever was in that memory before reaches the "
                  "other ranks as part of the text; fix: begin with dist::zeros");
  } else if (keeps_one_free) {
    misconception("room_for_a_terminator",
                  "one byte is kept for a zero at the end: a text that fills the tensor needs no terminator, "
                  "because the tensor ends there");
  } else if (one.text.size() > size && bytes == with_zeros(without_its_last(kept), size)) {
    misconception("cuts_a_whole_character",
                  "the last character was complete and was dropped: look at the byte after the cut; a "
                  "character was cut only if that byte is a continuation byte (10xxxxxx)");
  } else if (bytes.size() == one.text.size() || bytes.size() == one.text.size() + 1) {
    misconception("size_of_the_text",
                  "the tensor is as long as the text; fix: give it `size` elements, because all_gather needs "
                  "the same size on all ranks");
  }
}

std::string until_zero(const std::string& bytes) { return bytes.substr(0, bytes.find('\0')); }

struct Round {
  std::int64_t size;
  std::vector<std::string> texts;
};

void one_tensor_n_times() {
  misconception("one_tensor_n_times",
                "a list of copies of one Tensor is n names for the same memory; fix: make a new tensor for "
                "each rank's text");
}

// `texts`: the uncut texts of the ranks.
void diagnose_exchanged(const std::vector<std::string>& texts, const std::vector<std::string>& expected,
                        const std::vector<std::string>& got) {
  if (got.size() == expected.size() && got.size() > 1 &&
      std::ranges::count(got, got.back()) == std::ssize(got)) {
    return one_tensor_n_times();
  }
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    if (got[i].size() > expected[i].size() && got[i].starts_with(expected[i])) {
      if (texts[i].starts_with(got[i])) return cut_within_a_character();
      return misconception("not_padded",
                           "bytes that are not part of the text follow it: either the tensor was not padded "
                           "with zeros, or a character was cut in the middle");
    }
  }
}

void check_round(int rank, const Round& round, const Json& value) {
  const auto who = fmt::format("rank {}", rank);
  std::vector<std::string> expected, got;
  for (const auto& text : round.texts)
    expected.push_back(fitting(text, static_cast<std::size_t>(round.size)));
  for (const auto& text : value) got.push_back(judge::from_hex(text.get<std::string>()));
  if (got == expected) return;
  diagnose_exchanged(round.texts, expected, got);
  if (got.size() != expected.size()) {
    ADD_FAILURE() << fmt::format("{} returned {} texts in a group of {} ranks", who, got.size(),
                                 expected.size());
    return;
  }
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(expected, got).in1 - expected.begin());
  ADD_FAILURE() << fmt::format(
      "{}, exchange with {} bytes per text: rank {}'s text must be {}; exchange returned {}", who, round.size,
      at, shown(expected[at]), shown(got[at]));
}

}  // namespace

namespace {

bool each_is_terminated(const std::vector<Packing>& cases, const Json& replies) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (judge::is_error(replies[i])) return false;
    const auto bytes = replies[i].at("value").value("bytes", "");
    if (judge::from_hex(bytes) != terminated(cases[i])) return false;
  }
  return true;
}

}  // namespace

void expect_packed(const std::vector<Packing>& cases) {
  Json questions = Json::array();
  for (const auto& one : cases) questions.push_back({{"text", judge::to_hex(one.text)}, {"size", one.size}});
  const auto replies = ask_one({{"call", "pack"}, {"cases", questions}});
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto question = fmt::format("pack({}, {})", shown(cases[i].text), cases[i].size);
    const auto value = judge::value_of(replies[i], question);
    if (value.is_null()) return;
    if (value.at("dtype") != "u8") {
      ADD_FAILURE() << fmt::format("{} must be a tensor of dtype u8; it is {}", question,
                                   value.at("dtype").get<std::string>());
      return;
    }
    const auto bytes = judge::from_hex(value.at("bytes").get<std::string>());
    if (bytes == padded(cases[i]) && value.at("shape") == Json::array({cases[i].size})) continue;
    diagnose_packed(cases[i], bytes, each_is_terminated(cases, replies));
    ADD_FAILURE() << fmt::format("{} must have the bytes {} and the shape [{}]; it has {} and {}", question,
                                 shown(padded(cases[i])), cases[i].size, shown(bytes),
                                 value.at("shape").dump());
    return;
  }
}

void expect_unpacked(const std::vector<std::string>& tensors) {
  Json questions = Json::array();
  for (const auto& bytes : tensors) questions.push_back({{"bytes", judge::to_hex(bytes)}});
  const auto replies = ask_one({{"call", "unpack"}, {"cases", questions}});
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto question = fmt::format("unpack of the bytes {}", shown(tensors[i]));
    const auto value = judge::value_of(replies[i], question);
    if (value.is_null()) return;
    const auto text = judge::from_hex(value.get<std::string>());
    const auto right = until_zero(tensors[i]);
    if (text == right) continue;
    if (text.find('\0') != std::string::npos) {
      misconception("zeros_kept",
                    "the padding is still in the text: it looks right when it is printed, but it does not "
                    "compare equal to the text; fix: stop at the first zero");
    } else if (tensors[i].find('\0') == std::string::npos) {
      misconception("room_for_a_terminator",
                    "a text that fills its tensor has no zero after it; fix: stop at the tensor's end, too");
    }
    ADD_FAILURE() << fmt::format("{} must be the text {}; it is {}", question, shown(right), shown(text));
    return;
  }
}

namespace {

// Each exchange makes one call, with its size. Collectives other than these two are not checked here.
bool expect_one_all_gather(const judge::SimRun& run, const std::vector<Round>& rounds) {
  std::vector<std::uint64_t> asked, made;
  for (const auto& round : rounds) asked.push_back(static_cast<std::uint64_t>(round.size));
  for (const auto& event : run.report.trace.events) {
    if (event.kind != dist::trace::Kind::call || event.rank != 0) continue;
    if (!event.name.starts_with("all_gather")) return true;
    made.push_back(event.bytes);
  }
  if (made == asked) return true;
  if (made.size() > asked.size()) {
    misconception(
        "several_collectives",
        "one all_gather brings the texts of all ranks to every rank, so a second one has nothing left to do");
  }
  ADD_FAILURE() << fmt::format(
      "exchange on {} ranks, with {} bytes per text: expected one all_gather per call, with this many bytes "
      "per rank; rank 0 calls all_gather with {}",
      run.ranks.size(), fmt::join(asked, ", then "), fmt::join(made, ", then "));
  return false;
}

}  // namespace

void expect_exchanged(judge::Random& random, int world_size) {
  // Long texts come first: what they leave in memory shows in the short texts after them.
  std::vector<Round> rounds{{64, {}}, {48, {}}, {7, {}}, {64, {}}};
  for (int rank = 0; rank < world_size; ++rank) {
    rounds[0].texts.push_back(fmt::format("pid {} on node-{}, cuda:{} {}", random.between(100, 99999),
                                          random.word(3), rank, random.word(random.between(20, 60))));
    rounds[1].texts.push_back(random.word(rank % 2 == 0 ? 3 : 48));
    rounds[2].texts.push_back(random.word(random.between(0, 4)) + "节点" + random.word(4));
    rounds[3].texts.push_back(rank == 0 ? "" : random.word(random.between(1, 6)));
  }
  judge::SimPlan plan{.trace = true, .about = fmt::format("exchange on {} ranks", world_size)};
  for (int rank = 0; rank < world_size; ++rank) {
    Json task{{"call", "exchange"}, {"rounds", Json::array()}};
    for (const auto& round : rounds) {
      const auto& text = round.texts[static_cast<std::size_t>(rank)];
      task["rounds"].push_back({{"text", judge::to_hex(text)}, {"size", round.size}});
    }
    plan.tasks.push_back(task);
  }
  const auto run = judge::simulate(plan);
  for (const auto& failure : run.report.failures) {
    if (failure.what.find("share memory") != std::string::npos)
      one_tensor_n_times();  // all_gather rejects it
  }
  const auto answers = run.answers({"all_gather", "gather", "broadcast", "barrier"});
  if (answers.empty()) return;
  if (!expect_one_all_gather(run, rounds)) return;
  for (int rank = 0; rank < world_size; ++rank) {
    const auto& replies = answers[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < replies.size(); ++i) {
      check_round(rank, rounds[i], replies[i]);
      if (testing::Test::HasFailure()) return;
    }
    if (replies.size() != rounds.size())
      ADD_FAILURE() << fmt::format("rank {} did not finish its calls of exchange", rank);
  }
}

}  // namespace lab01
