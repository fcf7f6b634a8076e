// Lab 17, parts 1 and 2: places and slices. Wrong ideas are formulas: if one of them gives all of the
// answers, the submission has this idea.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab17 {
namespace {

using judge::misconception;

int position_of(const Grid& grid, int rank) {
  return static_cast<int>(std::ranges::find(grid.ranks, rank) - grid.ranks.begin());
}
// The place with this position, by strides: each coordinate is position / stride % size.
Ints by_strides(const Ints& sizes, const Ints& strides, int position, bool keeps_the_remainder = true) {
  Ints place;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const int count = position / strides[axis];
    place.push_back(keeps_the_remainder ? count % sizes[axis] : count);
  }
  return place;
}
// The products of all sizes behind each axis.
Ints right_strides(const Ints& sizes) {
  Ints strides(sizes.size(), 1);
  for (std::size_t axis = sizes.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * sizes[axis];
  return strides;
}
// The products of the sizes from each axis on, without the last one.
Ints own_strides(const Ints& sizes) {
  Ints strides(sizes.size(), 1);
  for (std::size_t axis = sizes.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * sizes[axis - 1];
  return strides;
}

struct PlaceIdea {
  const char* name;
  const char* in_words;
  Ints (*place)(const Grid&, int rank);
};

const std::vector<PlaceIdea>& place_ideas() {
  static const std::vector<PlaceIdea> known{
      {"column_major",
       "the first coordinate changes fastest, which is column-major order; fix: in row-major order the last "
       "one does, so take the last axis first",
       [](const Grid& grid, int rank) {
         return reversed(place_at(reversed(grid.sizes), static_cast<std::size_t>(position_of(grid, rank))));
       }},
      {"back_to_front",
       "the coordinates are right, but in the reverse order of the axes; fix: put that of the first axis "
       "first",
       [](const Grid& grid, int rank) { return reversed(right_coordinates(grid, rank)); }},
      {"stride_of_its_own_size",
       "an axis is divided by its own size, which is right only if all axes are equally long; fix: the "
       "stride "
       "of an axis is the product of the sizes BEHIND it",
       [](const Grid& grid, int rank) {
         return by_strides(grid.sizes, own_strides(grid.sizes), position_of(grid, rank));
       }},
      {"forgets_the_remainder",
       "the first and the last coordinate are right, those between are too large; fix: position / stride "
       "counts all earlier axes, too, so take it modulo the size of the axis",
       [](const Grid& grid, int rank) {
         const int position = position_of(grid, rank);
         Ints place = by_strides(grid.sizes, right_strides(grid.sizes), position, false);
         place.back() = position % grid.sizes.back();
         return place;
       }},
      {"rank_as_position",
       "the rank itself was divided; fix: its POSITION in grid.ranks counts, because ranks may be any "
       "numbers "
       "in any order",
       [](const Grid& grid, int rank) { return by_strides(grid.sizes, right_strides(grid.sizes), rank); }},
      {"counts_from_the_first_rank",
       "the rank is counted from the first one of the grid, as if all ranks between were in it, in order; "
       "fix: look for its position in grid.ranks",
       [](const Grid& grid, int rank) {
         const int offset = rank - grid.ranks.front();
         return offset < 0 ? Ints{} : by_strides(grid.sizes, right_strides(grid.sizes), offset);
       }},
      {"sorts_the_ranks",
       "the ranks were put in ascending order; fix: the order of grid.ranks is the order of the places",
       [](const Grid& grid, int rank) {
         return place_at(grid.sizes,
                         static_cast<std::size_t>(position_of({{}, {}, sorted(grid.ranks)}, rank)));
       }}};
  return known;
}

struct Place {
  const Grid* grid;
  int rank;
};

// `answers`: one place for each question about a rank in the grid.
void diagnose_places(const std::vector<Place>& questions, const std::vector<Ints>& answers) {
  for (const auto& idea : place_ideas()) {
    const auto fits = [&](const Place& question, const Ints& answer) {
      return idea.place(*question.grid, question.rank) == answer;
    };
    if (std::ranges::equal(questions, answers, fits)) return misconception(idea.name, idea.in_words);
  }
}

struct RankIdea {
  const char* name;
  const char* in_words;
  int (*rank)(const Grid&, const Ints& place, int position);
};

const std::vector<RankIdea>& rank_ideas() {
  static const std::vector<RankIdea> known{
      {"column_major",
       "the first coordinate changes fastest, which is column-major order; fix: begin with the first axis, "
       "and before each further one multiply by its size",
       [](const Grid& grid, const Ints& place, int) {
         int position = 0;
         for (std::size_t axis = place.size(); axis-- > 0;)
           position = position * grid.sizes[axis] + place[axis];
         return grid.ranks[static_cast<std::size_t>(position)];
       }},
      {"position_as_rank",
       "this is the position in the grid; fix: the rank is what grid.ranks has at this position",
       [](const Grid&, const Ints&, int position) { return position; }},
      {"counts_from_the_first_rank",
       "the position was added to the first rank, as if all ranks were consecutive; fix: the rank is what "
       "grid.ranks has at this position",
       [](const Grid& grid, const Ints&, int position) { return grid.ranks.front() + position; }}};
  return known;
}

// ----------------------------------------------------------------------------------------------- slices

struct Slice {
  const Grid* grid;
  Names along;
  int rank;
};

struct SliceIdea {
  const char* name;
  const char* in_words;
  Ints (*ranks)(const Slice&);
};

// Ranks of the slice that are on a line with the given one.
Ints cross(const Slice& slice) {
  const Grid& grid = *slice.grid;
  const Ints own = right_coordinates(grid, slice.rank);
  Ints ranks;
  for (const int rank : right_slice(grid, slice.along, slice.rank)) {
    const Ints place = right_coordinates(grid, rank);
    int differences = 0;
    for (std::size_t axis = 0; axis < place.size(); ++axis) differences += place[axis] != own[axis] ? 1 : 0;
    if (differences <= 1) ranks.push_back(rank);
  }
  return ranks;
}

Names other_names(const Grid& grid, const Names& along) {
  Names names;
  for (const std::size_t axis : grid.axes(along, false)) names.push_back(grid.names[axis]);
  return names;
}

const std::vector<SliceIdea>& slice_ideas() {
  static const std::vector<SliceIdea> known{
      {"moves_along_the_other_axes",
       "these ranks have the same coordinates ALONG the axes; fix: along them one moves, so the coordinates "
       "along all other axes must be equal",
       [](const Slice& slice) {
         return right_slice(*slice.grid, other_names(*slice.grid, slice.along), slice.rank);
       }},
      {"from_the_first_rank",
       "this is the slice of the grid's first rank; fix: compare coordinates with those of `rank`",
       [](const Slice& slice) { return right_slice(*slice.grid, slice.along, slice.grid->ranks.front()); }},
      {"a_line_for_each_axis",
       "these are the lines along each axis, put together; fix: one may move along all axes at once, so only "
       "the coordinates along the OTHER axes count",
       cross},
      {"sorts_the_ranks", "the ranks are in ascending order; fix: keep the order of grid.ranks",
       [](const Slice& slice) { return sorted(right_slice(*slice.grid, slice.along, slice.rank)); }},
      {"only_the_first_axis",
       "this is the slice along the first axis alone; fix: all axes of the list belong to it",
       [](const Slice& slice) { return right_slice(*slice.grid, {slice.along.front()}, slice.rank); }},
      {"column_major",
       "the ranks of the slice are in column-major order; fix: keep the order in which they are in "
       "grid.ranks",
       [](const Slice& slice) {
         Ints ranks = right_slice(*slice.grid, slice.along, slice.rank);
         std::ranges::stable_sort(ranks, {},
                                  [&](int rank) { return reversed(right_coordinates(*slice.grid, rank)); });
         return ranks;
       }}};
  return known;
}

void diagnose_slices(const std::vector<Slice>& slices, const std::vector<Grid>& answers) {
  for (const auto& idea : slice_ideas()) {
    const auto fits = [&](const Slice& slice, const Grid& answer) {
      return idea.ranks(slice) == answer.ranks;
    };
    if (std::ranges::equal(slices, answers, fits)) return misconception(idea.name, idea.in_words);
  }
}

// All lists of axes with one name, or with several.
std::vector<Names> lists_of_axes(const Grid& grid, Along along) {
  std::vector<Names> lists;
  for (unsigned set = 1; set < 1U << grid.names.size(); ++set) {
    Names list;
    for (std::size_t axis = 0; axis < grid.names.size(); ++axis)
      if ((set >> axis & 1U) != 0) list.push_back(grid.names[axis]);
    if ((along == Along::one) == (list.size() == 1)) lists.push_back(list);
  }
  return lists;
}

}  // namespace

void expect_coordinates(const std::vector<Grid>& grids) {
  std::vector<Place> questions;
  Json cases = Json::array();
  const auto ask = [&](const Grid& grid, int rank) {
    questions.push_back({&grid, rank});
    cases.push_back({{"grid", as_json(grid)},
                     {"rank", rank},
                     {"text", fmt::format("rank {} in a grid of {}", rank, text(grid))}});
  };
  for (const Grid& grid : grids) {
    for (const int rank : grid.ranks) ask(grid, rank);
    ask(grid, *std::ranges::max_element(grid.ranks) + 1);
  }
  const Json replies = judge::ask("coordinates", cases);
  std::vector<Place> inside;
  std::vector<Ints> places;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (right_coordinates(*questions[i].grid, questions[i].rank).empty()) continue;
    inside.push_back(questions[i]);
    places.push_back(replies[i]);
  }
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const auto [grid, rank] = questions[i];
    const Ints right = right_coordinates(*grid, rank), got = replies[i];
    if (got == right) continue;
    if (right.empty())
      misconception("outside_has_a_place",
                    "a rank that is not in the grid has no coordinates; fix: return an empty list for it");
    else
      diagnose_places(inside, places);
    ADD_FAILURE() << fmt::format("a grid of {} with ranks {}: rank {} is at {}; coordinates returned {}",
                                 text(*grid), in_braces(grid->ranks), rank, in_braces(right), in_braces(got));
    return;
  }
}

void expect_ranks(const std::vector<Grid>& grids) {
  struct Question {
    const Grid* grid;
    std::size_t position;
  };
  std::vector<Question> questions;
  Json cases = Json::array();
  for (const Grid& grid : grids) {
    for (std::size_t position = 0; position < grid.ranks.size(); ++position) {
      const Ints place = place_at(grid.sizes, position);
      questions.push_back({&grid, position});
      cases.push_back({{"grid", as_json(grid)},
                       {"place", place},
                       {"text", fmt::format("{} in a grid of {}", in_braces(place), text(grid))}});
    }
  }
  const std::vector<int> ranks = judge::ask("rank_at", cases);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto [grid, position] = questions[i];
    if (ranks[i] == grid->ranks[position]) continue;
    for (const auto& idea : rank_ideas()) {
      const auto fits = [&](const Question& question, int rank) {
        return idea.rank(*question.grid, place_at(question.grid->sizes, question.position),
                         static_cast<int>(question.position)) == rank;
      };
      if (std::ranges::equal(questions, ranks, fits)) {
        misconception(idea.name, idea.in_words);
        break;
      }
    }
    ADD_FAILURE() << fmt::format(
        "a grid of {} with ranks {}: {} is the place of rank {}; rank_at returned {}", text(*grid),
        in_braces(grid->ranks), in_braces(place_at(grid->sizes, position)), grid->ranks[position], ranks[i]);
    return;
  }
}

void expect_slices(const std::vector<Grid>& grids, Along along) {
  std::vector<Slice> slices;
  Json cases = Json::array();
  for (const Grid& grid : grids) {
    for (const Names& axes : lists_of_axes(grid, along)) {
      for (const int rank : grid.ranks) {
        slices.push_back({&grid, axes, rank});
        cases.push_back(
            {{"grid", as_json(grid)},
             {"axes", axes},
             {"rank", rank},
             {"text", fmt::format("the slice along {} from rank {}", fmt::join(axes, ", "), rank)}});
      }
    }
  }
  std::vector<Grid> got;
  for (const auto& one : judge::ask("slice", cases))
    got.push_back({one.at("names"), one.at("sizes"), one.at("ranks")});
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto& [grid, axes, rank] = slices[i];
    Grid right{axes, some_of(grid->sizes, grid->axes(axes)), right_slice(*grid, axes, rank)};
    const std::string about = fmt::format("a grid of {} with ranks {}, the slice along {} from rank {}",
                                          text(*grid), in_braces(grid->ranks), fmt::join(axes, ", "), rank);
    if (got[i].ranks != right.ranks) {
      diagnose_slices(slices, got);
      ADD_FAILURE() << fmt::format("{} has the ranks {}; slice returned {}", about, in_braces(right.ranks),
                                   in_braces(got[i].ranks));
      return;
    }
    if (got[i].names == right.names && got[i].sizes == right.sizes) continue;
    if (got[i].sizes == grid->sizes)
      misconception(
          "keeps_all_axes",
          "the slice has the axes of the whole grid; fix: a slice is a grid with the given axes only");
    ADD_FAILURE() << fmt::format("{} has the axes {} with sizes {}; slice returned {} with sizes {}", about,
                                 fmt::join(right.names, ", "), in_braces(right.sizes),
                                 fmt::join(got[i].names, ", "), in_braces(got[i].sizes));
    return;
  }
}

}  // namespace lab17
