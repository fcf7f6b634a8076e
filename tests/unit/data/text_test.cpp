#include "dist/data/text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/crc32.h"
#include "dist/data/data_loader.h"
#include "dist/data/step_sampler.h"
#include "dist/data/text_reader.h"

#include "support/expect_error.h"

namespace dist::data {
namespace {

using Tokens = std::vector<Token>;
using Numbers = std::vector<std::int64_t>;

Tokens count_to(std::size_t n) {
  Tokens tokens(n);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

TEST(Vocabulary, OfCharactersIsSortedAndGivesTheTextBack) {
  const std::string text = "zażółć 你好 𝄞a\n";
  const auto vocabulary = Vocabulary::of_chars(text, "a text");
  EXPECT_TRUE(std::ranges::is_sorted(vocabulary.characters()));
  EXPECT_EQ(vocabulary.characters().front(), U'\n');
  EXPECT_EQ(vocabulary.characters().back(), U'𝄞');
  const auto tokens = vocabulary.encode(text, "a text");
  EXPECT_EQ(tokens.size(), 13U);  // characters, not bytes
  EXPECT_EQ(vocabulary.size(), 11);
  EXPECT_EQ(tokens[1], tokens[11]);
  EXPECT_EQ(vocabulary.decode(tokens), text);
  EXPECT_EQ(Vocabulary(vocabulary.characters()).encode(text, "a text"), tokens);
}

TEST(Vocabulary, OfNumbersWritesThemInDecimal) {
  const auto numbers = Vocabulary::of_numbers(300);
  EXPECT_TRUE(numbers.is_numbers() && !numbers.is_bytes());
  EXPECT_EQ(numbers.size(), 300);
  EXPECT_EQ(numbers.encode(" 1, 299\n0", "it"), (Tokens{1, 299, 0}));
  EXPECT_EQ(numbers.decode(Tokens{1, 299, 0}), "1, 299, 0");
  for (const char* const wrong : {"300", "-1", "1.5", "a", "1;2", "99999999999"})
    EXPECT_DIST_ERROR((void)numbers.encode(wrong, "it"), Errc::invalid_argument,
                      "its tokens are numbers from 0 to 299");
  EXPECT_DIST_ERROR((void)numbers.encode(" ", "it"), Errc::invalid_argument, "it has no tokens");
  EXPECT_DIST_ERROR((void)Vocabulary::of_numbers(0), Errc::invalid_argument, "at least 1");
}

TEST(Vocabulary, OfBytesTakesAnything) {
  const auto bytes = Vocabulary::of_bytes();
  EXPECT_EQ(bytes.size(), 256);
  const std::string text("\xff\0\x80z", 4);
  EXPECT_EQ(bytes.encode(text, "it"), (Tokens{255, 0, 128, 'z'}));
  EXPECT_EQ(bytes.decode(bytes.encode(text, "it")), text);
}

TEST(Vocabulary, RefusesInOneLine) {
  using namespace std::string_literals;
  const auto of = [](const std::string& text) { return Vocabulary::of_chars(text, "book.txt"); };
  EXPECT_DIST_ERROR(of(""), Errc::invalid_argument, "book.txt is empty");
  for (const std::string& wrong : {"\x80"s, "\xc0\x80"s, "\xe4\xbd"s, "\xed\xa0\x80"s, "\xe0\x80\x80"s,
                                   "\xf4\x90\x80\x80"s, "\xf0\x80\x80\x80"s, "\xff"s})
    EXPECT_DIST_ERROR(of("ab" + wrong), Errc::invalid_argument, "book.txt is not UTF-8: byte 2 (0x");
  dist::test::expect_error(Errc::invalid_argument, {"the prompt has characters", ": U+000A, \"Q\", \"é\""},
                           [&] { of("abc").encode("éaQ\nQ", "the prompt"); });
  EXPECT_DIST_ERROR(of("abc").encode("defghijklmnop", "the prompt"), Errc::invalid_argument, "and 5 more");
  EXPECT_DIST_ERROR(of("abc").decode(Tokens{0, 3}), Errc::invalid_argument,
                    "3 is not a token of a vocabulary of 3");
  EXPECT_DIST_ERROR(Vocabulary({U'b', U'a'}), Errc::invalid_argument, "ascending order");
}

TEST(Text, IsReadWhole) {
  const auto file = std::filesystem::path(testing::TempDir()) / "text_test.txt";
  const std::string text(200'000, 'x');
  std::ofstream(file) << text;
  EXPECT_EQ(read_text(file), text);
  std::filesystem::remove(file);
  EXPECT_DIST_ERROR(read_text(file), Errc::resource, "cannot read the text " + file.string());
  EXPECT_DIST_ERROR(read_text(testing::TempDir()), Errc::resource, "cannot read the text ");
}

// Training figures are comparable only as long as every run learns the same text.
TEST(Text, OfTheHandoutsNeverChanges) {
  const auto text = read_text(CORPUS);
  EXPECT_EQ(text.size(), 227'798U);
  EXPECT_EQ(crc32(std::as_bytes(std::span(text))), 0x107c4600U)
      << "restore it: git checkout labs/handbook/corpus.txt";
  EXPECT_EQ(Vocabulary::of_chars(text, "the handouts").size(), 92);
}

Tokens in_parts(const Vocabulary& vocabulary, std::string_view text, std::size_t part) {
  Encoder encoder(vocabulary, "it");
  for (; !text.empty(); text.remove_prefix(std::min(part, text.size()))) encoder.add(text.substr(0, part));
  const TokenList list = encoder.finish();
  const TokenSpan tokens = list;
  Tokens all;
  for (std::size_t i = 0; i < tokens.size(); ++i) all.push_back(tokens[i]);
  return all;
}

TEST(TextReader, PartsMayEndAnywhere) {
  const std::string text = "zażółć 你好 𝄞a\n";
  for (const std::size_t part : {1U, 2U, 3U, 5U, 100U}) {
    CharacterSet characters("it");
    for (std::size_t at = 0; at < text.size(); at += part)
      characters.add(std::string_view(text).substr(at, part));
    const auto vocabulary = characters.finish();
    EXPECT_EQ(vocabulary.decode(in_parts(vocabulary, text, part)), text) << part;
    EXPECT_EQ(in_parts(Vocabulary::of_bytes(), text, part).size(), text.size());
    const std::string two("\x01\x00\xff\xfe", 4);
    EXPECT_EQ(in_parts(Vocabulary::of_numbers(1 << 16), two, part), (Tokens{1, 0xfeff})) << part;
    const auto refused = [&](const std::string& wrong, const char* words) {
      EXPECT_DIST_ERROR((void)in_parts(vocabulary, wrong, part), Errc::invalid_argument, words);
    };
    refused("za\xff", "it is not UTF-8: byte 2 (0xff)");
    refused("ż\xe4\xbd", "it is not UTF-8: byte 2 (0xe4)");
    refused("ż\xe4za", "it is not UTF-8: byte 2 (0xe4)");
    refused("xyz", "it has characters that are not in the vocabulary: \"x\", \"y\"");
  }
  EXPECT_DIST_ERROR((void)in_parts(Vocabulary::of_numbers(300), "abc", 2), Errc::invalid_argument,
                    "it has the number 25185 at 0, but the model has 300 tokens");
  EXPECT_DIST_ERROR((void)in_parts(Vocabulary::of_numbers(1 << 16), "abc", 2), Errc::invalid_argument,
                    "it has 3 bytes, but each number takes two");
}

TEST(TokenList, TakesNoMoreBytesThanItsVocabularyNeeds) {
  for (const std::int64_t size : {256, 257, 65'536, 65'537, 100'000}) {
    TokenList list(size);
    const auto last = static_cast<Token>(size - 1);
    for (const Token token : {0, last, 1, last}) list.push_back(token);
    const TokenSpan tokens = TokenSpan(list).subspan(1).first(2);
    EXPECT_EQ(tokens[0], last);
    EXPECT_EQ(tokens[1], 1);
    EXPECT_EQ(list.size(), 4U);
  }
}

TEST(Text, LastTenthIsForValidation) {
  const auto tokens = count_to(109);
  const auto [train, validation] = split_text(tokens);
  EXPECT_EQ(train.size(), 99U);
  EXPECT_EQ(validation.size(), 10U);
  EXPECT_EQ(validation[0], 99);
}

TEST(TextDataset, TargetIsTheInputOneTokenLater) {
  const auto tokens = count_to(11);
  const TextDataset anywhere(tokens, {.context = 4}), each_once(tokens, {.context = 4, .stride = 4});
  EXPECT_EQ(anywhere.size(), 7);
  EXPECT_EQ(each_once.size(), 2);
  const auto last = anywhere.get(6), second = each_once.get(1);
  EXPECT_EQ(last.input.to_vector<std::int64_t>(), (Numbers{6, 7, 8, 9}));
  EXPECT_EQ(last.target.to_vector<std::int64_t>(), (Numbers{7, 8, 9, 10}));
  EXPECT_EQ(second.input.to_vector<std::int64_t>(), (Numbers{4, 5, 6, 7}));
  EXPECT_DIST_ERROR(anywhere.get(7), Errc::invalid_argument, "there is no block 7");
}

TEST(TextDataset, RefusesATextShorterThanABlock) {
  const auto tokens = count_to(8);
  EXPECT_EQ(TextDataset(tokens, {.context = 7}).size(), 1);
  dist::test::expect_error(Errc::invalid_argument,
                           {"book.txt has 8 tokens", "a block has 9", "a smaller context"},
                           [&] { TextDataset(tokens, {.context = 8}, "book.txt"); });
  EXPECT_DIST_ERROR(TextDataset(tokens, {.context = 0}), Errc::invalid_argument, "at least 1");
}

Numbers steps(std::int64_t size, StepSamplerOptions options, std::int64_t first, std::int64_t last) {
  StepSampler sampler(size, options);
  sampler.set_steps(first, last);
  EXPECT_EQ(sampler.indices().size(), static_cast<std::size_t>(sampler.size()));
  return sampler.indices();
}

TEST(StepSampler, RanksTogetherSeeWhatOneRankSees) {
  const auto alone = steps(50, {.batch_size = 6, .seed = 3}, 0, 20);
  for (int rank = 0; rank < 3; ++rank) {
    const auto mine = steps(50, {.batch_size = 2, .num_replicas = 3, .rank = rank, .seed = 3}, 0, 20);
    for (std::size_t step = 0; step < 20; ++step)
      for (std::size_t row = 0; row < 2; ++row)
        EXPECT_EQ(mine[2 * step + row], alone[6 * step + 2 * static_cast<std::size_t>(rank) + row]);
  }
}

TEST(StepSampler, ContinuesAtAnyStep) {
  const StepSamplerOptions options{.batch_size = 4, .seed = 1};
  const auto whole = steps(30, options, 0, 40);
  for (const std::int64_t first : {1, 6, 7, 13, 39}) {  // 7 steps an epoch
    const auto rest = steps(30, options, first, 40);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.begin() + 4 * first, whole.end())) << first;
  }
  auto epoch = steps(30, options, 7, 14), before = steps(30, options, 0, 7);
  EXPECT_NE(epoch, before);
  std::ranges::sort(epoch);
  EXPECT_EQ(std::ranges::adjacent_find(epoch), epoch.end()) << "a sample occurs twice in one epoch";
}

// A large dataset's order takes no memory: a gigabyte of it would be listed otherwise.
TEST(StepSampler, OrdersALargeDatasetWithoutAList) {
  constexpr std::int64_t size = StepSampler::most_listed * 8 + 5;
  const StepSamplerOptions options{.batch_size = 4096, .seed = 1};
  auto some = steps(size, options, 0, 64), later = steps(size, options, 32, 64);
  EXPECT_TRUE(std::equal(later.begin(), later.end(), some.begin() + 32 * 4096));
  for (const auto index : some) ASSERT_TRUE(index >= 0 && index < size);
  // In each eighth there are as many as chance has it, within five deviations.
  std::vector<int> counts(8);
  for (const auto index : some) ++counts[static_cast<std::size_t>(index / (size / 8 + 1))];
  const double mean = static_cast<double>(some.size()) / 8;
  for (const int count : counts) EXPECT_NEAR(count, mean, 5 * std::sqrt(mean));
  std::ranges::sort(some);
  EXPECT_EQ(std::ranges::adjacent_find(some), some.end()) << "a sample occurs twice in one epoch";
  EXPECT_NE(steps(size, options, size / 4096, size / 4096 + 1), steps(size, options, 0, 1))
      << "another epoch";
}

TEST(StepSampler, ServesADatasetSmallerThanAStep) {
  const auto all = steps(3, {.batch_size = 7}, 0, 2);
  for (const auto index : all) EXPECT_LT(index, 3);
  EXPECT_DIST_ERROR(StepSampler(0, {}), Errc::invalid_argument, "at least 1");
  EXPECT_DIST_ERROR(StepSampler(9, {.num_replicas = 2, .rank = 2}), Errc::invalid_argument, "rank is 2");
}

TEST(StepSampler, WorksWithTheLoader) {
  const auto tokens = count_to(40);
  const TextDataset blocks(tokens, {.context = 5});
  StepSampler sampler(blocks.size(), {.batch_size = 3});
  sampler.set_steps(2, 6);
  std::int64_t batches = 0;
  for (const auto& [inputs, targets] : DataLoader(blocks, sampler, {.batch_size = 3, .workers = 1})) {
    EXPECT_EQ(inputs.shape(), (Shape{3, 5}));
    EXPECT_EQ(std::as_const(targets).data<std::int64_t>()[0],
              std::as_const(inputs).data<std::int64_t>()[0] + 1);
    ++batches;
  }
  EXPECT_EQ(batches, 4);
}

}  // namespace
}  // namespace dist::data
