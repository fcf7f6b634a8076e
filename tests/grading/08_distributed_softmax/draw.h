// Lab 08: random numbers and how they are distributed over the ranks. All are multiples of 1/8, and therefore
// exact in f32.
#pragma once

#include <string>
#include <vector>

#include "support.h"

namespace lab08::draw {

double eighths(judge::Random& random, double low, double high);

// Shards of these lengths, with entries around `center`.
Item row(judge::Random& random, const std::vector<int>& lengths, double center = 0,
         const std::string& dtype = "f32");
Item same_lengths(judge::Random& random, int ranks, int elements, double center = 0,
                  const std::string& dtype = "f32");
Item weighted(judge::Random& random, int ranks, int elements, const std::string& dtype = "f32");
// Uneven shards. One rank's entries are far above all others and one rank's far below, so that each max
// matters.
Item far_apart(judge::Random& random, int ranks, const std::string& dtype = "f32");
std::vector<int> uneven(judge::Random& random, int ranks);  // lengths, all different and none 0
Item with_target(Item item, std::int64_t target);
void mask(Reals& shard);
Item scaled(Item item, double factor);  // by a power of two
Item below_all(Item item);              // below numbers that might stand for a masked entry
Item far_below_all(Item item);          // the same, as far as f32 reaches

// For softmax_of_row and softmax_in_one.
Asked awkward_rows(judge::Random& random, const std::string& call);  // with empty shards
Asked masked_rows(judge::Random& random, const std::string& call);
Asked stable_rows(judge::Random& random, const std::string& call);  // around 1e4 and -1e4

}  // namespace lab08::draw
