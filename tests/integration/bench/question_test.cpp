// The check of results notices what a broken collective would leave.
#include "distlab/bench/question.h"

#include <gtest/gtest.h>

namespace {

using namespace distlab::bench;

// What an all_reduce has to leave, computed the long way.
dist::Tensor sum_of_all(Question question) {
  dist::Tensor sum = dist::zeros({question.count}, question.dtype);
  for (question.rank = 0; question.rank < question.ranks; ++question.rank) {
    dist::Tensor input = dist::zeros({question.count}, question.dtype);
    fill_input(question, input);
    sum.add_(input);
  }
  return sum;
}

Question question_of(Collective collective, int ranks, int rank, std::int64_t count) {
  return {collective, ranks, rank, 0, dist::DType::f32, dist::ReduceOp::sum, count};
}

}  // namespace

TEST(BenchQuestion, RightAnswersHaveNothingWrong) {
  for (const int ranks : {1, 2, 5, 9}) {
    for (const auto dtype : {dist::DType::i8, dist::DType::f16, dist::DType::bf16, dist::DType::f64}) {
      Question question = question_of(Collective::all_reduce, ranks, 0, 1000);
      question.dtype = dtype;
      EXPECT_EQ(count_wrong(question, sum_of_all(question)), 0) << ranks << " " << dist::name(dtype);
    }
  }
}

TEST(BenchQuestion, CountsWrongElements) {
  const Question question = question_of(Collective::all_reduce, 3, 0, 1000);
  dist::Tensor sum = sum_of_all(question);
  sum.data<float>()[0] += 1;
  sum.data<float>()[999] -= 1;
  EXPECT_EQ(count_wrong(question, sum), 2);
  fill_garbage(sum);
  EXPECT_EQ(count_wrong(question, sum), 1000) << "what was never written";
  dist::Tensor own = dist::zeros({1000});
  fill_input(question, own);
  EXPECT_GT(count_wrong(question, own), 500) << "nothing was added";
}

TEST(BenchQuestion, NoticesSharesOfTheWrongRank) {
  const Question question = question_of(Collective::all_gather, 3, 0, 100);
  dist::Tensor out = dist::zeros({300});
  const auto fill = [&](int place, int source) {
    dist::Tensor part = out.narrow(100 * place, 100);
    Question other = question;
    other.rank = source;
    fill_input(other, part);
  };
  for (int rank = 0; rank < 3; ++rank) fill(rank, rank);
  EXPECT_EQ(count_wrong(question, out), 0);
  fill(0, 1);
  fill(1, 0);
  EXPECT_EQ(count_wrong(question, out), 200) << "two shares exchanged";
}

TEST(BenchQuestion, EachShareOfAnAllToAllIsForOneRank) {
  for (int rank = 0; rank < 2; ++rank) {
    const Question question = question_of(Collective::all_to_all, 2, rank, 7);
    dist::Tensor out = dist::zeros({14});
    for (int source = 0; source < 2; ++source) {
      for (int i = 0; i < 7; ++i)
        out.data<float>()[static_cast<std::size_t>(7 * source + i)] =
            static_cast<float>(contribution(question, source, 7 * rank + i));
    }
    EXPECT_EQ(count_wrong(question, out), 0);
    EXPECT_GT(count_wrong(question_of(Collective::all_to_all, 2, 1 - rank, 7), out), 10)
        << "the other rank's";
  }
}

TEST(BenchQuestion, AResultOnTheRootLeavesTheOthersAlone) {
  const Question root = question_of(Collective::reduce, 4, 0, 200);
  const Question other = question_of(Collective::reduce, 4, 2, 200);
  dist::Tensor own = dist::zeros({200});
  fill_input(other, own);
  EXPECT_EQ(count_wrong(other, own), 0);
  EXPECT_GT(count_wrong(root, own), 100);
  EXPECT_EQ(count_wrong(root, sum_of_all(root)), 0);
  EXPECT_GT(count_wrong(other, sum_of_all(root)), 100);
}

TEST(BenchQuestion, PartnersOfAPingPong) {
  EXPECT_EQ(question_of(Collective::send_recv, 3, 0, 1).partner(), 1);
  EXPECT_EQ(question_of(Collective::send_recv, 3, 1, 1).partner(), 0);
  EXPECT_EQ(question_of(Collective::send_recv, 3, 2, 1).partner(), -1);
}
