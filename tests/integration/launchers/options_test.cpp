#include "distrun/options.h"

#include <gtest/gtest.h>

#include "distrun/environment.h"

namespace {

using distrun::Options;
using distrun::parse;
using distrun::Stop;

std::string refusal(std::vector<std::string> arguments) {
  try {
    parse(std::move(arguments));
  } catch (const Stop& stop) {
    EXPECT_EQ(stop.exit_code, 2);
    EXPECT_EQ(stop.text.find('\n'), std::string::npos) << "one line: " << stop.text;
    return stop.text;
  }
  return "accepted";
}

TEST(DistrunOptions, DashesAndUnderscoresAndEqualsSignsAreTheSame) {
  for (const char* flag : {"--nproc-per-node", "--nproc_per_node"}) {
    EXPECT_EQ(parse({flag, "3", "prog"}).nproc_per_node, 3) << flag;
    EXPECT_EQ(parse({std::string(flag) + "=3", "prog"}).nproc_per_node, 3) << flag;
  }
}

TEST(DistrunOptions, EverythingAfterTheProgramIsItsOwn) {
  const Options o =
      parse({"--nproc-per-node", "2", "./prog", "--nproc-per-node", "7", "-r", "--", "x y", ""});
  EXPECT_EQ(o.nproc_per_node, 2);
  EXPECT_EQ(o.program, (std::vector<std::string>{"./prog", "--nproc-per-node", "7", "-r", "--", "x y", ""}));
}

TEST(DistrunOptions, TwoDashesEndTheFlags) {
  EXPECT_EQ(parse({"--nnodes=1", "--", "prog", "-x"}).program, (std::vector<std::string>{"prog", "-x"}));
}

TEST(DistrunOptions, DefaultsAreTorchruns) {
  const Options o = parse({"prog"});
  EXPECT_EQ(o.nodes, 1);
  EXPECT_EQ(o.nproc_per_node, 1);
  EXPECT_EQ(o.max_restarts, 0);
  EXPECT_EQ(o.run_id, "none");
  EXPECT_EQ(o.role, "default");
  EXPECT_TRUE(o.prefix);
  EXPECT_EQ(o.grace_s, 5);
}

TEST(DistrunOptions, NodesAsOneNumberOrARange) {
  EXPECT_EQ(parse({"--nnodes", "2:2", "--rdzv-endpoint", "a:1", "p"}).nodes, 2);
  const Options range =
      parse({"--nnodes", "1:3", "--rdzv-endpoint", "a:1", "--rdzv-conf", "last_call_timeout=7", "p"});
  EXPECT_TRUE(range.is_elastic());
  EXPECT_EQ(range.least_nodes, 1);
  EXPECT_EQ(range.nodes, 3);
  EXPECT_EQ(range.last_call_s, 7);
  EXPECT_NE(refusal({"--nnodes", "3:1", "p"}).find("at least 3"), std::string::npos);
  EXPECT_NE(refusal({"--nnodes", "1:3", "--node-rank", "0", "p"}).find("leave it out"), std::string::npos);
  EXPECT_NE(refusal({"--nnodes", "0", "p"}).find("at least 1"), std::string::npos);
  EXPECT_NE(refusal({"--nnodes", "two", "p"}).find("\"two\""), std::string::npos);
}

TEST(DistrunOptions, EndpointFromFlagOrMasterAddress) {
  Options o = parse({"--nnodes=2", "--rdzv_endpoint=host7:1234", "p"});
  EXPECT_EQ(o.endpoint_host, "host7");
  EXPECT_EQ(o.endpoint_port, 1234);
  o = parse({"--nnodes=2", "--rdzv-endpoint=host7", "p"});
  EXPECT_EQ(o.endpoint_port, 29400);
  o = parse({"--nnodes=2", "--rdzv-endpoint=[::1]:77", "p"});
  EXPECT_EQ(o.endpoint_host, "[::1]");
  EXPECT_EQ(o.endpoint_port, 77);
  for (const auto& [text, port] : std::vector<std::pair<std::string, int>>{
           {"::1:29411", 29411}, {"[fd77::1]:29411", 29411}, {"fd77::1", 29400}, {"[::1]", 29400}}) {
    o = parse({"--nnodes=2", "--rdzv-endpoint=" + text, "p"});
    EXPECT_EQ(o.endpoint_host, text.find("fd77") == std::string::npos ? "[::1]" : "[fd77::1]") << text;
    EXPECT_EQ(o.endpoint_port, port) << text;
  }
  o = parse({"--nnodes=2", "--node-rank=1", "--master-addr=::1", "p"});
  EXPECT_EQ(o.endpoint_host, "[::1]");
  o = parse({"--nnodes=2", "--node-rank=1", "--master-addr=10.0.0.7", "p"});
  EXPECT_EQ(o.endpoint_host, "10.0.0.7");
  EXPECT_EQ(o.endpoint_port, 29500);
  EXPECT_NE(refusal({"--nnodes=2", "p"}).find("--rdzv-endpoint HOST:PORT"), std::string::npos);
  EXPECT_NE(refusal({"--nnodes=2", "--rdzv-endpoint=h:99999", "p"}).find("h:99999"), std::string::npos);
}

TEST(DistrunOptions, StreamsForAllRanksOrSingleOnes) {
  const Options o = parse({"-t", "3", "--redirects", "0:1,2:3", "p"});
  EXPECT_TRUE(o.tee.has(5, 1) && o.tee.has(5, 2));
  EXPECT_TRUE(o.redirects.has(0, 1));
  EXPECT_FALSE(o.redirects.has(0, 2));
  EXPECT_FALSE(o.redirects.has(1, 1));
  EXPECT_TRUE(o.redirects.has(2, 2));
  EXPECT_NE(refusal({"-r", "4", "p"}).find("\"4\""), std::string::npos);
}

TEST(DistrunOptions, FlagsOfTorchrunThatMeanNothingHereAreAccepted) {
  EXPECT_EQ(
      parse({"--no-python", "--start-method", "fork", "--standalone", "--rdzv_conf", "a=b,c=d", "p"}).program,
      std::vector<std::string>{"p"});
}

TEST(DistrunOptions, RefusalsSayWhatToDo) {
  EXPECT_NE(refusal({"-m", "pkg.train"}).find("python3 -m"), std::string::npos);
  EXPECT_NE(refusal({"--rdzv-backend", "etcd", "p"}).find("c10d and static"), std::string::npos);
  EXPECT_NE(refusal({"--nproc", "4", "p"}).find("did you mean --nproc-per-node"), std::string::npos);
  EXPECT_NE(refusal({"--frobnicate", "p"}).find("unknown option --frobnicate"), std::string::npos);
  for (const char* of_mpirun : {"-n", "-np"})
    EXPECT_NE(refusal({of_mpirun, "2", "p"}).find("the number of ranks is --nproc-per-node"),
              std::string::npos);
  EXPECT_NE(refusal({}).find("which program"), std::string::npos);
  EXPECT_NE(refusal({"--nnodes=2", "--node-rank=2", "--rdzv-endpoint=h:1", "p"}).find("count from 0"),
            std::string::npos);
  EXPECT_NE(refusal({"--standalone", "--nnodes=2", "p"}).find("one node"), std::string::npos);
  EXPECT_NE(refusal({"--max-restarts", "-1", "p"}).find("negative"), std::string::npos);
  for (const char* wrong : {"inf", "nan", "-1", "1e30"})
    for (const char* flag : {"--grace-period", "--monitor-interval"})
      EXPECT_NE(refusal({flag, wrong, "p"}).find("takes seconds, from 0 to 1000000"), std::string::npos)
          << flag << wrong;
  EXPECT_NE(refusal({"--rdzv-conf", "is_host=banana", "p"}).find("takes 1 or 0, not \"banana\""),
            std::string::npos);
}

// None of these messages is the parser's own.
TEST(DistrunOptions, ComplaintsAreInOurWords) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--role", "a", "--role", "b", "p"}, "--role is given 2 times; once is enough"},
      {{"--role"}, "--role needs a value"},
      {{"--node-rank", "x", "p"}, "--node-rank takes a number, not \"x\""},
      {{"--master-port", "99999", "p"}, "--master-port takes a number from 0 to 65535, not \"99999\""},
      {{"--standalone=maybe", "p"}, "--standalone takes no value"}};
  for (const auto& [arguments, words] : wrong)
    EXPECT_EQ(refusal(arguments), "distrun: " + words + "; see distrun --help");
}

TEST(DistrunOptions, NumberOfProcesses) {
  EXPECT_EQ(distrun::count_processes("7", 2, 0), 7);
  EXPECT_EQ(distrun::count_processes("cpu", 6, 1), 6);
  EXPECT_EQ(distrun::count_processes("gpu", 6, 2), 2);
  EXPECT_EQ(distrun::count_processes("auto", 6, 2), 2);
  EXPECT_EQ(distrun::count_processes("auto", 6, 0), 6);
  EXPECT_THROW(distrun::count_processes("gpu", 6, 0), Stop);
  EXPECT_THROW(distrun::count_processes("0", 6, 0), Stop);
  EXPECT_THROW(distrun::count_processes("4x", 6, 0), Stop);
}

TEST(DistrunOptions, HelpIsNoError) {
  try {
    parse({"--help"});
    FAIL();
  } catch (const Stop& stop) {
    EXPECT_EQ(stop.exit_code, 0);
    EXPECT_NE(stop.text.find("--nproc-per-node N"), std::string::npos);
  }
}

TEST(DistrunEnvironment, RanksOfTheSecondNode) {
  distrun::Place place;
  place.node_rank = 1, place.nodes = 2, place.first_rank = 3, place.local_size = 2, place.world_size = 5;
  place.master_addr = "10.0.0.1", place.master_port = 4000, place.store_address = "tcp://10.0.0.1:29400";
  place.first_role_rank = 1, place.role_size = 3;
  place.token = "secret";
  const auto environment = distrun::rank_environment({"HOME=/root", "RANK=99", "A=b=c"},
                                                     parse({"--max-restarts", "4", "p"}), place, 1, 2, "");
  const auto has = [&](const std::string& entry) {
    return std::count(environment.begin(), environment.end(), entry) == 1;
  };
  for (const char* entry : {"RANK=4",
                            "WORLD_SIZE=5",
                            "LOCAL_RANK=1",
                            "LOCAL_WORLD_SIZE=2",
                            "GROUP_RANK=1",
                            "GROUP_WORLD_SIZE=2",
                            "ROLE_RANK=2",
                            "ROLE_NAME=default",
                            "ROLE_WORLD_SIZE=3",
                            "MASTER_ADDR=10.0.0.1",
                            "MASTER_PORT=4000",
                            "TORCHELASTIC_RESTART_COUNT=2",
                            "TORCHELASTIC_MAX_RESTARTS=4",
                            "TORCHELASTIC_RUN_ID=none",
                            "TORCHELASTIC_USE_AGENT_STORE=False",
                            "DIST_STORE=tcp://10.0.0.1:29400",
                            "DIST_JOB_TOKEN=secret",
                            "HOME=/root",
                            "A=b=c",
                            "OMP_NUM_THREADS=1"}) {
    EXPECT_TRUE(has(entry)) << entry;
  }
  EXPECT_FALSE(has("RANK=99"));
}

TEST(DistrunEnvironment, ThreadsAreLeftAloneWhenSetOrAlone) {
  distrun::Place place;
  place.local_size = 2;
  EXPECT_FALSE(distrun::sets_omp_threads({"OMP_NUM_THREADS=8"}, place));
  EXPECT_TRUE(distrun::sets_omp_threads({"OMP_NUM_THREADS_X=8"}, place));
  place.local_size = 1;
  EXPECT_FALSE(distrun::sets_omp_threads({}, place));
}

}  // namespace
