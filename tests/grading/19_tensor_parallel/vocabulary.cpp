// Lab 19, part 4: a vocabulary that is divided among the ranks.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab19 {
namespace {

using judge::misconception;
using Tokens = std::vector<std::int64_t>;
struct LookUp {
  std::int64_t t, vocabulary, width;
};

// The first row of the second rank is always among them: it is the one after the first rank's last.
Tokens draw_tokens(judge::Random& random, std::int64_t count, std::int64_t vocabulary, const Groups& groups) {
  Tokens tokens;
  for (std::int64_t i = 0; i < count; ++i)
    tokens.push_back(random.between(0, static_cast<int>(vocabulary) - 1));
  const auto of_second = right_part(vocabulary, 1, static_cast<std::int64_t>(groups[0].size())).first;
  if (count > 1 && of_second < vocabulary) tokens[1] = of_second;
  if (count > 2) tokens.back() = tokens.front();  // a token that occurs twice
  return tokens;
}

// Rows of `table`, as ranks find them that take a token's number for a row of their part.
Matrix without_offset(const Matrix& table, const Tokens& tokens, int n) {
  Matrix y{static_cast<std::int64_t>(tokens.size()), table.columns};
  for (std::int64_t i = 0; i < y.rows; ++i)
    for (int rank = 0; rank < n; ++rank) {
      const Part part = right_part(table.rows, rank, n);
      const auto row = tokens[static_cast<std::size_t>(i)];
      for (std::int64_t k = 0; row < part.count && k < y.columns; ++k) y(i, k) += table(part.first + row, k);
    }
  return y;
}

Matrix rows_of(const Matrix& table, const Tokens& tokens, const Part& part) {
  Matrix y{static_cast<std::int64_t>(tokens.size()), table.columns};
  for (std::int64_t i = 0; i < y.rows; ++i) {
    const auto row = tokens[static_cast<std::size_t>(i)];
    const bool has = row >= part.first && row < part.first + part.count;
    for (std::int64_t k = 0; has && k < y.columns; ++k) y(i, k) = table(row, k);
  }
  return y;
}

// What the tokens add to a gradient of the table that is 1 everywhere. `counts`: each occurrence of a token;
// `adds`: to what was there.
Matrix table_gradient(const Matrix& grad, const Tokens& tokens, std::int64_t vocabulary, bool counts,
                      bool adds) {
  Matrix gradient{vocabulary, grad.columns};
  std::ranges::fill(gradient.at, 1);
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < grad.rows; ++i) {
    const auto row = tokens[static_cast<std::size_t>(i)];
    const bool is_first = seen.insert(row).second;
    for (std::int64_t k = 0; k < grad.columns; ++k)
      gradient(row, k) = grad(i, k) + (counts && !is_first ? gradient(row, k) : adds ? 1 : 0);
  }
  return gradient;
}

struct Embedding {
  Matrix table, grad;
  Tokens tokens;
  Question question;
};
Embedding ask_embedding(judge::Random& random, const std::string& phase, const LookUp& sizes,
                        const Groups& groups) {
  const auto& [t, vocabulary, width] = sizes;
  const Seed seed = draw_seed(random);
  const Matrix whole = numbers(seed, table, vocabulary, width),
               grad = numbers(seed, output_gradient, t, width);
  const Tokens tokens = draw_tokens(random, t, vocabulary, groups);
  const Json task{{"call", "embedding"},     {"phase", phase},
                  {"dtype", "f64"},          {"sizes", {t, width, 1, 1, false}},
                  {"tokens", tokens},        {"grad", as_json(grad)},
                  {"vocabulary", vocabulary}};
  const auto own = [whole](const Place& place) {
    return Json{{"table", as_json(whole.rows_of(right_part(whole.rows, place.rank, place.n)))}};
  };
  return {whole,
          grad,
          tokens,
          {task, groups, own,
           fmt::format("embedding of {} tokens, {} in the vocabulary, width {}", t, vocabulary, width),
           phase == "backward"}};
}

bool embedding_is_right(const Embedding& asked, const Played& played) {
  const auto& [whole, grad, tokens, question] = asked;
  const std::int64_t vocabulary = whole.rows;
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const Place& place = played.places[i];
    const Part part = right_part(vocabulary, place.rank, place.n);
    const auto who = fmt::format("{}, group rank {} of {} (rank {} of the job)", question.about, place.rank,
                                 place.n, place.job_rank);
    if (!is_right(who + ", forward", rows_of(whole, tokens, {0, vocabulary}), played.replies[i].at("y"),
                  "f64",
                  {{without_offset(whole, tokens, place.n), "forgets_the_offset",
                    "a token is used as the number of one of this rank's rows; fix: row r of the whole table "
                    "is row r - rows.first here, if this rank has it"},
                   {rows_of(whole, tokens, part), "forgets_the_all_reduce",
                    "tokens of the other ranks have zeros; fix: sum over the ranks"}}) ||
        !is_right(
            who + ", the gradient of the table",
            table_gradient(grad, tokens, vocabulary, true, true).rows_of(part),
            played.replies[i].at("gradient"), "f64",
            {{table_gradient(grad, tokens, vocabulary, false, true).rows_of(part), "a_token_counts_once",
              "a token that occurs twice has the gradient of one of its places; fix: add them"},
             {table_gradient(grad, tokens, vocabulary, false, false).rows_of(part), "overwrites_the_gradient",
              "the gradient that was there is lost, and so is that of a token's other places; fix: add"},
             {table_gradient(grad, tokens, vocabulary, true, false).rows_of(part), "overwrites_the_gradient",
              "the gradient that was there is lost; fix: add (backward accumulates)"}}))
      return false;
  }
  return !played.replies.empty();
}

struct Row {
  double most = 0, sum = 0;  // sum of exp(logit - most)
};
Row row_of(const Matrix& logits, std::int64_t i, const Part& part) {
  Row row{-1e300, 0};
  for (std::int64_t k = part.first; k < part.first + part.count; ++k)
    row.most = std::max(row.most, logits(i, k));
  for (std::int64_t k = part.first; k < part.first + part.count; ++k)
    row.sum += std::exp(logits(i, k) - row.most);
  return row;
}

struct RightLoss {
  double mean = 0;
  Matrix gradient;
};
// `divisor`: of the gradient; t is right.
RightLoss right_loss(const Matrix& logits, const Tokens& targets, double divisor) {
  RightLoss loss{0, {logits.rows, logits.columns}};
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const Row row = row_of(logits, i, {0, logits.columns});
    const auto target = targets[static_cast<std::size_t>(i)];
    loss.mean += (std::log(row.sum) + (row.most - logits(i, target))) / static_cast<double>(logits.rows);
    for (std::int64_t k = 0; k < logits.columns; ++k)
      loss.gradient(i, k) = (std::exp(logits(i, k) - row.most) / row.sum - (k == target ? 1 : 0)) / divisor;
  }
  return loss;
}

// The mean loss if every rank takes a target's number for a column of its part.
double loss_without_offset(const Matrix& logits, const Tokens& targets, int n) {
  double mean = 0;
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const Row row = row_of(logits, i, {0, logits.columns});
    mean += std::log(row.sum) + row.most;
    double sum = 0;
    for (int rank = 0; rank < n; ++rank) {
      const Part part = right_part(logits.columns, rank, n);
      const auto target = targets[static_cast<std::size_t>(i)];
      if (target < part.count) sum += logits(i, part.first + target) - row.most;
    }
    mean -= sum + row.most;
  }
  return mean / static_cast<double>(logits.rows);
}

// Also of what std::stod calls out of range.
double number_of(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

bool is_near(double right, double got, double scale) { return std::abs(right - got) <= 1e-9 * (1 + scale); }

struct LossRun {
  Matrix logits;
  Tokens targets;
};

void diagnose_gradient(const LossRun& run, const Part& part, const Numbers& got) {
  const auto near = [&](const Matrix& all) {
    const Matrix own = all.columns_of(part);
    return std::ranges::equal(own.at, got, [](double a, double b) { return is_near(a, b, std::abs(a)); });
  };
  Matrix local = run.logits;
  for (std::int64_t i = 0; i < local.rows; ++i) {
    const Row row = row_of(run.logits, i, part);
    for (std::int64_t k = 0; k < local.columns; ++k)
      local(i, k) = (std::exp(run.logits(i, k) - row.most) / row.sum -
                     (k == run.targets[static_cast<std::size_t>(i)] ? 1 : 0)) /
                    static_cast<double>(local.rows);
  }
  if (near(right_loss(run.logits, run.targets, 1).gradient))
    misconception(
        "gradient_of_the_sum",
        "the gradient belongs to the sum over the tokens, the loss is their mean; fix: divide it by their "
        "number, too");
  else if (near(local))
    misconception(
        "normalises_by_the_local_sum",
        "the probabilities of each rank add up to 1 by themselves; fix: divide by the sum of all ranks");
}

}  // namespace

void expect_embedding(judge::Random& random, std::int64_t t, std::int64_t vocabulary, std::int64_t width,
                      const Groups& groups, bool is_second) {
  const auto asked = ask_embedding(random, "both", {t, vocabulary, width}, groups);
  const auto played = play(asked.question);
  if (!embedding_is_right(asked, played) || !is_second) return;
  const auto n = static_cast<std::int64_t>(groups[0].size());
  expect_the_same(played, asked.question,
                  ask_embedding(random, "both", {t + 1, vocabulary + n, width + 1}, groups).question);
}

namespace {

struct LossQuestion {
  LossRun run;
  double about = 0;  // the logits are around it
  Question question;
};
LossQuestion ask_loss(judge::Random& random, std::int64_t t, std::int64_t vocabulary, const Groups& groups,
                      double about, double spread) {
  LossRun run{{t, vocabulary}, draw_tokens(random, t, vocabulary, groups)};
  constexpr int one = 1 << 30;
  for (double& logit : run.logits.at) logit = about + spread * random.between(-one, one) / one;
  const Json task{{"call", "loss"},
                  {"dtype", "f64"},
                  {"sizes", {t, 1, 1, 1, false}},
                  {"vocabulary", vocabulary},
                  {"targets", run.targets}};
  const auto own = [logits = run.logits](const Place& place) {
    return Json{{"logits", as_json(logits.columns_of(right_part(logits.columns, place.rank, place.n)))}};
  };
  return {run,
          about,
          {task, groups, own,
           fmt::format("loss of {} tokens, {} in the vocabulary, logits from {} to {}", t, vocabulary,
                       about - spread, about + spread)}};
}

// The mean loss of exponentials that each rank has taken with its own largest logit, when the sums are added
// as they are. [rank of the group]: each may add its own largest logit again.
std::vector<double> losses_with_own_maxima(const LossRun& run, int n, bool adds_its_own) {
  std::vector<double> means(static_cast<std::size_t>(n));
  const auto t = static_cast<double>(run.logits.rows);
  for (std::int64_t i = 0; i < run.logits.rows; ++i) {
    const auto target = run.targets[static_cast<std::size_t>(i)];
    double sum = 0, of_target = 0;
    std::vector<double> most;
    for (int rank = 0; rank < n; ++rank) {
      const Part part = right_part(run.logits.columns, rank, n);
      const Row row = row_of(run.logits, i, part);
      most.push_back(part.count > 0 ? row.most : 0);
      sum += row.sum;
      if (target >= part.first && target < part.first + part.count)
        of_target = run.logits(i, target) - (adds_its_own ? 0 : row.most);
    }
    for (std::size_t rank = 0; rank < means.size(); ++rank)
      means[rank] += (std::log(sum) + (adds_its_own ? most[rank] : 0) - of_target) / t;
  }
  return means;
}

void diagnose_mean(const LossQuestion& asked, double right, const std::vector<double>& means,
                   const Place& place) {
  const LossRun& run = asked.run;
  const double got = means[static_cast<std::size_t>(place.job_rank)];
  const auto t = static_cast<double>(run.logits.rows);
  double largest = 0;  // the mean of the tokens' largest logits
  for (std::int64_t i = 0; i < run.logits.rows; ++i)
    largest += row_of(run.logits, i, {0, run.logits.columns}).most / t;
  const auto has_own_maxima = [&](bool adds_its_own) {
    const auto with =
        losses_with_own_maxima(run, place.n, adds_its_own)[static_cast<std::size_t>(place.rank)];
    return is_near(with, got, std::abs(with));
  };
  if (!std::isfinite(got))
    misconception(
        "overflows",
        "the loss is not finite: exp() overflowed, or every exponential became 0; fix: subtract the "
        "largest logit of all ranks first, whose maximum begins at -infinity");
  else if (is_near(right * t, got, std::abs(right) * t))
    misconception("sums_over_tokens", "the loss is the sum over the tokens; fix: divide by their number");
  else if (is_near(loss_without_offset(run.logits, run.targets, place.n), got, std::abs(right)))
    misconception(
        "forgets_the_offset",
        "a target is used as the number of one of this rank's columns; fix: column c of the whole is "
        "column c - columns.first here, and on the other ranks it is not there at all");
  else if (is_near(right - largest, got, std::abs(right) + std::abs(largest)))
    misconception(
        "forgets_to_add_the_largest",
        "the largest logit was subtracted from all logits but the target's, and not added again; fix: "
        "the loss is log(sum) - (target's logit - largest)");
  else if (has_own_maxima(false) || has_own_maxima(true))
    misconception("mixes_numbers_of_ranks",
                  "each rank has subtracted its own largest logit, so the ranks' sums do not belong "
                  "together; fix: first "
                  "the largest logit of all ranks, then exp(logit - largest), then the sum");
  else if (std::abs(got - right) <= 1e-15 * std::abs(asked.about) && std::abs(asked.about) > 1e9)
    misconception(
        "loses_digits",
        "the logits are so large that what is added to them loses its digits; fix: subtract the largest "
        "logit from the target's first, and add the logarithm to this small difference");
}

bool loss_is_right(const LossQuestion& asked, const Played& played) {
  const LossRun& run = asked.run;
  const std::string& what = asked.question.about;
  const auto t = static_cast<double>(run.logits.rows);
  const RightLoss right = right_loss(run.logits, run.targets, t);
  std::vector<double> means;
  for (const Json& reply : played.replies) means.push_back(number_of(reply.at("mean")));
  for (std::size_t i = 0; i < played.replies.size(); ++i) {
    const Place& place = played.places[i];
    const auto who = fmt::format("{}, group rank {} of {} (rank {} of the job)", what, place.rank, place.n,
                                 place.job_rank);
    if (!is_near(right.mean, means[i], std::abs(right.mean))) {
      diagnose_mean(asked, right.mean, means, place);
      ADD_FAILURE() << fmt::format("{}: the mean loss must be {}; it is {}", who, right.mean, means[i]);
      return false;
    }
    const Part part = right_part(run.logits.columns, place.rank, place.n);
    const Matrix gradient = right.gradient.columns_of(part);
    Json got{{"shape", played.replies[i].at("shape")}, {"dtype", "f64"}, {"values", Numbers{}}};
    for (const std::string element : played.replies[i].at("gradient")) {
      const double number = number_of(element);
      got["values"].push_back(std::isfinite(number) ? number : 1e300);
    }
    if (is_right(who + ", the gradient of the logits", gradient, got, "f64")) continue;
    diagnose_gradient(run, part, got.at("values"));
    return false;
  }
  return !played.replies.empty();
}

}  // namespace

void expect_loss(judge::Random& random, std::int64_t t, std::int64_t vocabulary, const Groups& groups,
                 double about, double spread, bool is_second) {
  const auto asked = ask_loss(random, t, vocabulary, groups, about, spread);
  const auto played = play(asked.question);
  if (!loss_is_right(asked, played) || !is_second) return;
  const auto n = static_cast<std::int64_t>(groups[0].size());
  expect_the_same(played, asked.question,
                  ask_loss(random, t + 1, vocabulary + n, groups, about, spread).question);
}

void expect_vocabulary_traffic(judge::Random& random, int n) {
  const std::int64_t t = random.between(4, 7), vocabulary = random.between(9, 14),
                     width = random.between(3, 5);
  for (const std::string phase : {"forward", "backward"}) {
    const auto about = fmt::format("embedding_{} of {} tokens, {} ranks", phase, t, n);
    const auto played = play(ask_embedding(random, phase, {t, vocabulary, width}, one_group(n)).question);
    TrafficByName right;
    if (phase == "forward") right[all_reduce] = {1, 8 * static_cast<std::uint64_t>(t * width)};
    if (!traffic_is_right(about, played, right)) return;
  }
  const auto about = fmt::format("vocabulary_loss of {} tokens, {} ranks", t, n);
  const auto asked = ask_loss(random, t, vocabulary, one_group(n), 0, 2);
  traffic_is_at_most(about, play(asked.question), {{all_reduce, {3, 24 * static_cast<std::uint64_t>(t)}}});
}

}  // namespace lab19
