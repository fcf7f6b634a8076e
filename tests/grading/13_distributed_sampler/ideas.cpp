// Lab 13: which samples the ranks would have if a wrong idea were right.
#include "ideas.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace lab13 {
namespace {

Indices in_order(std::int64_t n) {
  Indices order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// ------------------------------------------------------------------------------------------------ shuffles

Indices naive(const Shuffle& s) {
  auto order = in_order(s.n);
  std::mt19937 draw(static_cast<std::uint32_t>(s.seed));
  for (auto& element : order) std::swap(element, order[draw() % order.size()]);
  return order;
}

Indices nothing_stays(const Shuffle& s) {
  auto order = in_order(s.n);
  std::mt19937 draw(static_cast<std::uint32_t>(s.seed));
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + 1 + draw() % (order.size() - i - 1)]);
  return order;
}

Indices from_the_front_again(const Shuffle& s) {
  auto order = in_order(s.n);
  std::mt19937 draw(static_cast<std::uint32_t>(s.seed));
  for (std::size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[draw() % (order.size() - i)]);
  return order;
}

Indices from_the_end(const Shuffle& s) {
  auto order = in_order(s.n);
  std::mt19937 draw(static_cast<std::uint32_t>(s.seed));
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draw() % left]);
  return order;
}

Indices by_std_shuffle(const Shuffle& s) {
  auto order = in_order(s.n);
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<std::uint32_t>(s.seed)));
  return order;
}

struct ShuffleIdea {
  const char* name;
  const char* in_words;
  std::function<Indices(const Shuffle&)> order;
};

const std::vector<ShuffleIdea>& shuffle_ideas() {
  static const std::vector<ShuffleIdea> known{
      {"std_shuffle",
       "this is the order of std::shuffle: the C++ standard does not specify how it uses the generator, so "
       "other libraries, and PyTorch, get another order from the same seed; fix: write the shuffle that the "
       "contract specifies",
       by_std_shuffle},
      {"naive_shuffle",
       "every element is swapped with any of the n elements, so some orders are more likely than others; "
       "fix: swap element i with element i + draw % (n - i)",
       naive},
      {"no_element_stays",
       "an element is never swapped with itself, so none keeps its position; fix: allow i + 0, too",
       nothing_stays},
      {"i_not_added",
       "element i is swapped with element draw % (n - i), counted from the beginning of the list; fix: count "
       "from i: swap it with element i + draw % (n - i)",
       from_the_front_again},
      {"shuffles_from_the_end",
       "this shuffle is as good, but it runs from the last element to the first; fix: run from the first to "
       "the last, as PyTorch's does",
       from_the_end},
      {"not_shuffled", "the list is still in order; fix: shuffle it",
       [](const Shuffle& s) { return in_order(s.n); }}};
  return known;
}

// ------------------------------------------------------------------------------------- parts of the samples

// One rank's part of the samples, in one epoch.
struct Part {
  const Sampling& asked;
  std::int64_t epoch;
  int rank;
  std::size_t n() const { return static_cast<std::size_t>(asked.ranks); }
  Indices list(std::uint64_t seed) const {
    return asked.shuffle ? permutation(asked.samples, seed) : in_order(asked.samples);
  }
  Indices list() const { return list(asked.seed + static_cast<std::uint64_t>(epoch)); }
  // The right part: every n-th element of a list that is cut or continued.
  Indices dealt(Indices from) const {
    if (from.empty()) return from;
    if (asked.drop_last) from.resize(from.size() - from.size() % n());
    for (std::size_t i = 0; from.size() % n() != 0; ++i) from.push_back(from[i]);
    return every_nth(from);
  }
  Indices every_nth(const Indices& from) const {
    Indices mine;
    for (auto i = static_cast<std::size_t>(rank); i < from.size(); i += n()) mine.push_back(from[i]);
    return mine;
  }
};

Indices blocks(const Part& p) {
  auto list = p.list();
  if (list.empty()) return list;
  if (p.asked.drop_last) list.resize(list.size() - list.size() % p.n());
  for (std::size_t i = 0; list.size() % p.n() != 0; ++i) list.push_back(list[i]);
  const auto each = std::ssize(list) / p.asked.ranks;
  return {list.begin() + p.rank * each, list.begin() + (p.rank + 1) * each};
}

Indices last_repeated(const Part& p) {
  auto list = p.list();
  while (!p.asked.drop_last && !list.empty() && list.size() % p.n() != 0) list.push_back(list.back());
  return p.dealt(list);
}

Indices continued_once(const Part& p) {
  auto list = p.list();
  if (p.asked.drop_last) return p.dealt(list);
  const auto size = list.size(), missing = (p.n() - size % p.n()) % p.n();
  for (std::size_t i = 0; i < std::min(size, missing); ++i) list.push_back(list[i]);
  return p.every_nth(list);
}

Indices rounded_the_other_way(const Part& p) {
  Sampling other = p.asked;
  other.drop_last = !other.drop_last;
  return Part{other, p.epoch, p.rank}.dealt(p.list());
}

Indices cut_before_the_shuffle(const Part& p) {
  const auto whole = p.asked.samples - p.asked.samples % p.asked.ranks;
  return p.every_nth(permutation(whole, p.asked.seed + static_cast<std::uint64_t>(p.epoch)));
}

struct ShareIdea {
  const char* name;
  const char* in_words;
  std::function<Indices(const Part&)> mine;
};

const std::vector<ShareIdea>& share_ideas() {
  static const std::vector<ShareIdea> known{
      {"cut_forgotten",
       "drop_last is set, but some ranks have one sample more than others; fix: cut the list to a multiple "
       "of the number of ranks before it is dealt out",
       [](const Part& p) { return p.asked.drop_last ? p.every_nth(p.list()) : p.dealt(p.list()); }},
      {"padding_forgotten",
       "some ranks have one sample more than others: the ranks with fewer leave the epoch, and the next "
       "collective waits for them forever; fix: continue the list from its own beginning",
       [](const Part& p) { return p.every_nth(p.list()); }},
      {"pads_once",
       "the list is continued from its beginning only once, which is not enough if there are more ranks than "
       "samples: the last ranks get nothing; fix: continue as often as needed",
       continued_once},
      {"pads_with_the_last", "the last sample is repeated; fix: continue the list with its first samples",
       last_repeated},
      {"consecutive_blocks",
       "each rank takes a block of the list; fix: deal the samples out like cards, one to each rank in turn",
       blocks},
      {"drop_last_the_wrong_way",
       "the list was rounded the wrong way; fix: with drop_last cut it to a multiple of the number of ranks, "
       "without drop_last continue it to one",
       rounded_the_other_way},
      {"epoch_ignored",
       "every epoch has the order of epoch 0; fix: shuffle with the seed seed + epoch, where set_epoch() "
       "sets the epoch",
       [](const Part& p) { return p.dealt(p.list(p.asked.seed)); }},
      {"seed_ignored", "the shuffle uses only the epoch as its seed; fix: use seed + epoch",
       [](const Part& p) { return p.dealt(p.list(static_cast<std::uint64_t>(p.epoch))); }},
      {"a_shuffle_of_its_own",
       "every rank shuffles with a seed of its own, so the parts overlap, and some samples are read by no "
       "rank; fix: shuffle the same list on all ranks, and take different positions of it",
       [](const Part& p) {
         return p.dealt(p.list(p.asked.seed + static_cast<std::uint64_t>(p.epoch + p.rank)));
       }},
      {"drops_before_shuffling",
       "the list is cut before it is shuffled, so the same samples are left out in every epoch; fix: shuffle "
       "everything, then cut",
       cut_before_the_shuffle},
      {"not_shuffled", "the list is still in order; fix: shuffle it",
       [](const Part& p) { return p.dealt(in_order(p.asked.samples)); }}};
  return known;
}

}  // namespace

void diagnose(const std::vector<Shuffle>& cases, const std::vector<Indices>& got) {
  for (const auto& idea : shuffle_ideas()) {
    bool fits = true;
    for (std::size_t i = 0; fits && i < got.size(); ++i) fits = got[i] == idea.order(cases[i]);
    if (fits) return judge::misconception(idea.name, idea.in_words);
  }
}

void diagnose(const Sampling& asked, std::int64_t epoch, const Shares& got) {
  for (const auto& idea : share_ideas()) {
    bool fits = true;
    for (int rank = 0; fits && rank < asked.ranks; ++rank) {
      fits =
          got[static_cast<std::size_t>(rank)] == idea.mine({asked, std::max<std::int64_t>(epoch, 0), rank});
    }
    if (fits) return judge::misconception(idea.name, idea.in_words);
  }
}

}  // namespace lab13
