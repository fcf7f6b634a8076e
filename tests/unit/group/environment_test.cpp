// What each launcher leaves in the environment, and what malformed values get.
#include "dist/group/join/environment.h"

#include <map>

#include <gtest/gtest.h>

#include "dist/group/join/settings.h"
#include "dist/group/join/slurm_nodes.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

using Map = std::map<std::string, std::string>;

GetEnv environment(Map values) {
  return [values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}
LaunchInfo read(const Map& values) { return read_environment(environment(values)); }
Map with(Map base, const Map& more) {
  for (const auto& [name, value] : more) base[name] = value;
  return base;
}
Map without(Map base, const std::string& name) {
  base.erase(name);
  return base;
}

const Map by_hand{{"RANK", "1"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "1234"}};
const Map torchrun{{"RANK", "5"},
                   {"WORLD_SIZE", "8"},
                   {"LOCAL_RANK", "1"},
                   {"LOCAL_WORLD_SIZE", "4"},
                   {"GROUP_RANK", "1"},
                   {"MASTER_ADDR", "node0"},
                   {"MASTER_PORT", "29500"},
                   {"TORCHELASTIC_RESTART_COUNT", "2"},
                   {"TORCHELASTIC_RUN_ID", "exp 7"},
                   {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Map mpirun{{"OMPI_COMM_WORLD_RANK", "2"},
                 {"OMPI_COMM_WORLD_SIZE", "4"},
                 {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                 {"PMIX_NAMESPACE", "3735879681"}};
const Map srun{{"SLURM_PROCID", "3"},         {"SLURM_NTASKS", "4"},
               {"SLURM_LOCALID", "1"},        {"SLURM_NODEID", "1"},
               {"SLURM_JOB_ID", "71234"},     {"SLURM_STEP_ID", "0"},
               {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_STEP_NODELIST", "gpu[03-04]"}};

const Map hydra{{"PMI_RANK", "2"},
                {"PMI_SIZE", "4"},
                {"MPI_LOCALRANKID", "0"},
                {"MPI_LOCALNRANKS", "2"},
                {"PMI_FD", "6"}};

TEST(Environment, ByHand) {
  const auto info = read(by_hand);
  EXPECT_EQ(info.launcher, "env");
  EXPECT_EQ(info.rank, 1);
  EXPECT_EQ(info.world_size, 3);
  EXPECT_EQ(info.local_rank, -1);  // not said
  EXPECT_EQ(info.local_world_size, -1);
  EXPECT_EQ(info.store_address, "tcp://10.0.0.1:1234");
  EXPECT_FALSE(info.store_is_external);
  EXPECT_EQ(info.token,
            read(with(by_hand, {{"WORLD_SIZE", "4"}})).token);  // ranks that differ must still meet
  EXPECT_EQ(read(with(by_hand, {{"DIST_JOB_TOKEN", "s3cret"}})).token, "s3cret");
}

TEST(Environment, TheMasterMayBeANameOrAnIpv6Address) {
  auto address = [](const char* host) { return read(with(by_hand, {{"MASTER_ADDR", host}})).store_address; };
  EXPECT_EQ(address("node-1.cluster"), "tcp://node-1.cluster:1234");
  EXPECT_EQ(address("fe80::1"), "tcp://[fe80::1]:1234");
  EXPECT_EQ(address("[::1]"), "tcp://[::1]:1234");
  EXPECT_EQ(address("fe80::1%eth0"), "tcp://[fe80::1%eth0]:1234");
  EXPECT_EQ(address("[fe80::1%eth0]"), "tcp://[fe80::1%eth0]:1234");
  EXPECT_EQ(read(without(by_hand, "MASTER_PORT")).store_address, "tcp://10.0.0.1:29500");
}

TEST(Environment, AJobOfOneNeedsNoMaster) {
  EXPECT_EQ(read({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).store_address, "");
  expect_error(Errc::invalid_argument, {"MASTER_ADDR is not set", "WORLD_SIZE is 2"}, [] {
    read({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  });
}

TEST(Environment, Torchrun) {
  const auto info = read(torchrun);
  EXPECT_EQ(info.launcher, "torchrun");
  EXPECT_EQ(info.rank, 5);
  EXPECT_EQ(info.world_size, 8);
  EXPECT_EQ(info.local_rank, 1);
  EXPECT_EQ(info.local_world_size, 4);
  EXPECT_EQ(info.group_rank, 1);
  EXPECT_EQ(info.restart_count, 2);
  EXPECT_NE(info.token.find("exp 7"), std::string::npos);
}

TEST(Environment, TorchrunsOwnStoreIsLeftAlone) {
  EXPECT_EQ(read(torchrun).store_address, "tcp://node0:29501");
  EXPECT_EQ(read(with(torchrun, {{"DIST_MASTER_PORT", "4000"}})).store_address, "tcp://node0:4000");
  const Map one_node = with(torchrun, {{"RANK", "1"}, {"WORLD_SIZE", "4"}});
  EXPECT_EQ(read(one_node).store_address, "unix://@distlab-exp_7-29500-2");
  EXPECT_EQ(read(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).store_address,
            "tcp://node0:29500");
  expect_error(Errc::invalid_argument, {"MASTER_PORT is 65535", "DIST_MASTER_PORT"}, [] {
    read(with(torchrun, {{"MASTER_PORT", "65535"}}));
  });
}

TEST(Environment, LongRunIdsStillMakeANameThatFits) {
  const Map one_node = with(torchrun, {{"RANK", "0"}, {"WORLD_SIZE", "4"}});
  const auto address = [&](std::size_t length) {
    return read(with(one_node, {{"TORCHELASTIC_RUN_ID", std::string(length, 'a')}})).store_address;
  };
  const auto a = address(300), b = address(301);
  EXPECT_LE(a.size(), 107u);
  EXPECT_NE(a, b);
}

TEST(Environment, Distrun) {
  const auto info = read(with(torchrun, {{"DIST_STORE", "tcp://127.0.0.1:29400"}, {"DIST_JOB_TOKEN", "t"}}));
  EXPECT_EQ(info.launcher, "distrun");
  EXPECT_EQ(info.store_address, "tcp://127.0.0.1:29400");
  EXPECT_TRUE(info.store_is_external);
  EXPECT_EQ(info.token, "t");
  EXPECT_EQ(info.rank, 5);
  EXPECT_EQ(info.restart_count, 2);
}

TEST(Environment, Mpirun) {
  const auto info = read(mpirun);
  EXPECT_EQ(info.launcher, "mpirun");
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.world_size, 4);
  EXPECT_EQ(info.local_rank, 2);
  EXPECT_EQ(info.local_world_size, 4);
  EXPECT_EQ(info.store_address, "unix://@distlab-3735879681");
  EXPECT_EQ(read(with(mpirun, {{"MASTER_ADDR", "h"}})).store_address, "tcp://h:29500");
  const Map two_hosts = with(mpirun, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}});
  expect_error(Errc::invalid_argument, {"mpirun -x MASTER_ADDR=", "-x MASTER_PORT="},
               [&] { read(two_hosts); });
  EXPECT_EQ(read(with(two_hosts, {{"MASTER_ADDR", "h"}, {"MASTER_PORT", "7"}})).store_address, "tcp://h:7");
  for (const auto& [vars, only_mpi_knows] :
       {std::pair(two_hosts, true), std::pair(mpirun, false), std::pair(hydra, true),
        std::pair(with(two_hosts, {{"MASTER_ADDR", "h"}}), false), std::pair(with(two_hosts, by_hand), false),
        std::pair(srun, false)})
    EXPECT_EQ(needs_mpi_to_find_rank_0(environment(vars)), only_mpi_knows);
}

TEST(Environment, MpiexecOfMpichAndIntelMpi) {
  const auto info = read(with(hydra, {{"MASTER_ADDR", "h"}}));
  EXPECT_EQ(info.launcher, "mpiexec");
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.world_size, 4);
  EXPECT_EQ(info.local_rank, 0);
  EXPECT_EQ(info.local_world_size, 2);
  EXPECT_EQ(info.store_address, "tcp://h:29500");
  expect_error(Errc::invalid_argument, {"mpiexec started 4 ranks", "mpiexec -genv MASTER_ADDR"},
               [] { read(hydra); });
  expect_error(Errc::invalid_argument, {"PMI_RANK is set, but PMI_SIZE is not"},
               [] { read(without(hydra, "PMI_SIZE")); });
  expect_error(Errc::invalid_argument, {"PMI_RANK is 4, but PMI_SIZE is 4"}, [] {
    read(with(hydra, {{"PMI_RANK", "4"}}));
  });
}

// srun --mpi=pmi2 sets PMI's variables, too; hydra's ranks have those of the srun that started its proxy.
TEST(Environment, PmiUnderSlurmIsTheOneWhoseNumbersItHas) {
  const auto by_srun = read(with(srun, {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}));
  EXPECT_EQ(by_srun.launcher, "srun");
  EXPECT_EQ(by_srun.store_address, "tcp://gpu03:18234");
  const Map proxy = with(srun, {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"MASTER_ADDR", "h"}});
  const auto by_hydra = read(with(proxy, hydra));
  EXPECT_EQ(by_hydra.launcher, "mpiexec");
  EXPECT_EQ(by_hydra.rank, 2);
}

TEST(Environment, ALauncherThatIsNotReadIsNamedAndIsNoPlaceForAJobOfItsOwn) {
  const std::vector<std::pair<Map, std::string>> unread{
      {{{"MV2_COMM_WORLD_RANK", "1"}}, "MV2_COMM_WORLD_RANK is 1, so MVAPICH2's mpirun_rsh"},
      {{{"PMIX_RANK", "0"}}, "PMIX_RANK is 0, so a launcher with PMIx"},
      {{{"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}}, "MPI_LOCALRANKID is 1, so MPICH or Intel MPI"},
      {{{"FLUX_TASK_RANK", "3"}, {"FLUX_JOB_SIZE", "4"}}, "FLUX_TASK_RANK is 3, so Flux"},
      {{{"PALS_RANKID", "3"}}, "PALS_RANKID is 3"},
      {{{"ALPS_APP_PE", "3"}}, "ALPS_APP_PE is 3, so aprun"},
      {{{"JSM_NAMESPACE_RANK", "3"}}, "JSM_NAMESPACE_RANK is 3, so jsrun"},
      {{{"LOCAL_RANK", "1"}}, "LOCAL_RANK is 1"},
      {without(srun, "SLURM_NTASKS"), "SLURM_PROCID is 3, so srun"}};
  for (const auto& [vars, words] : unread) {
    EXPECT_TRUE(is_launched(environment(vars))) << words;
    expect_error(Errc::not_initialized, {words, "set RANK, WORLD_SIZE, LOCAL_RANK", "clusters.md"},
                 [&, &v = vars] { read(v); });
  }
}

TEST(Environment, Srun) {
  const auto info = read(srun);
  EXPECT_EQ(info.launcher, "srun");
  EXPECT_EQ(info.rank, 3);
  EXPECT_EQ(info.world_size, 4);
  EXPECT_EQ(info.local_rank, 1);
  EXPECT_EQ(info.group_rank, 1);
  EXPECT_EQ(info.store_address, "tcp://gpu03:18234");  // 15000 + 71234 % 17000
  EXPECT_EQ(read(with(srun, {{"SLURM_STEP_ID", "2"}})).store_address, "tcp://gpu03:20276");  // and 2 * 1021
  EXPECT_EQ(read(with(srun, {{"MASTER_ADDR", "h"}, {"MASTER_PORT", "7"}})).store_address, "tcp://h:7");
  const Map one_node = with(srun, {{"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_STEP_NODELIST", "gpu03"}});
  EXPECT_EQ(read(one_node).store_address, "unix://@distlab-71234.0");
  const Map older = with(without(without(srun, "SLURM_STEP_NODELIST"), "SLURM_STEP_NUM_NODES"),
                         {{"SLURM_JOB_NODELIST", "a,b"}});
  EXPECT_EQ(read(older).store_address, "tcp://a:18234");
  // A federation's job numbers have the cluster in their highest bits.
  EXPECT_EQ(read(with(srun, {{"SLURM_JOB_ID", "4294967295"}})).store_address,
            fmt::format("tcp://gpu03:{}", 15000 + 4294967295 % 17000));
  expect_error(Errc::invalid_argument, {"SLURM_JOB_ID is '4294967296'"}, [] {
    read(with(srun, {{"SLURM_JOB_ID", "4294967296"}}));
  });
  const Map anywhere = with(srun, {{"SLURM_DISTRIBUTION", "arbitrary"}});
  expect_error(Errc::invalid_argument, {"SLURM_DISTRIBUTION is arbitrary", "MASTER_ADDR", "SLURM_HOSTFILE"},
               [&] { read(anywhere); });
  EXPECT_EQ(read(with(anywhere, {{"MASTER_ADDR", "h"}, {"MASTER_PORT", "7"}})).store_address, "tcp://h:7");
}

TEST(Environment, ASlurmBatchScriptIsNoRank) {
  expect_error(Errc::not_initialized, {"batch script", "srun"}, [] { read(without(srun, "SLURM_STEP_ID")); });
}

TEST(Environment, TorchrunsVariablesComeFirstThenMpisThenSlurms) {
  EXPECT_EQ(read(with(with(by_hand, mpirun), srun)).launcher, "env");
  EXPECT_EQ(read(with(mpirun, srun)).launcher, "mpirun");
}

TEST(Environment, NothingSetSaysHowToStart) {
  expect_error(Errc::not_initialized,
               {"RANK and WORLD_SIZE are not set", "distrun --nproc-per-node 4 PROGRAM", "spawn"},
               [] { read({}); });
  expect_error(Errc::not_initialized, {"distrun"}, [] { read({{"MASTER_ADDR", "h"}}); });
}

TEST(Environment, HalfOfThePairIsNamed) {
  expect_error(Errc::invalid_argument, {"RANK is set, but WORLD_SIZE is not"},
               [] { read(without(by_hand, "WORLD_SIZE")); });
  expect_error(Errc::invalid_argument, {"WORLD_SIZE is set, but RANK is not"},
               [] { read(without(by_hand, "RANK")); });
  expect_error(Errc::invalid_argument, {"OMPI_COMM_WORLD_SIZE is not"},
               [] { read(without(mpirun, "OMPI_COMM_WORLD_SIZE")); });
}

TEST(Environment, EveryMalformedValueIsNamedWithItsVariable) {
  const std::vector<std::pair<std::string, std::vector<const char*>>> bad{
      {"RANK", {"", "x", "1x", " 1", "-1", "8", "99999999999", "0x1", "1.0"}},
      {"WORLD_SIZE", {"", "0", "-3", "two", "5 "}},
      {"LOCAL_RANK", {"", "4", "-1", "a"}},
      {"LOCAL_WORLD_SIZE", {"", "0", "9", "b"}},
      {"GROUP_RANK", {"", "-1", "c"}},
      {"TORCHELASTIC_RESTART_COUNT", {"", "-1", "d"}},
      {"MASTER_PORT", {"", "0", "65536", "-1", "port"}},
      {"MASTER_ADDR", {"", "host:29500", "tcp://host", "a b"}},
  };
  for (const auto& [name, values] : bad) {
    for (const char* value : values) {
      expect_error(Errc::invalid_argument, {name, value}, [&, &n = name] {
        read(with(torchrun, {{n, value}}));
      });
    }
  }
  for (const char* value : {"", "0", "-1", "nan", "inf", "30s", "1e999"}) {
    expect_error(Errc::invalid_argument, {"DIST_TIMEOUT", value}, [&] {
      read_timeout(environment({{"DIST_TIMEOUT", value}}));
    });
  }
}

TEST(Environment, KnowsWhetherALauncherHasStartedThisProcess) {
  for (const Map& launched : {by_hand, torchrun, mpirun, hydra, srun, Map{{"RANK", "0"}}})
    EXPECT_TRUE(is_launched(environment(launched)));
  EXPECT_FALSE(is_launched(environment({{"MASTER_ADDR", "node0"}})));
  EXPECT_FALSE(is_launched(environment(without(srun, "SLURM_STEP_ID")))) << "a batch script";
  const Map shell =
      with(srun, {{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "1"}, {"PMIX_RANK", "0"}});
  EXPECT_FALSE(is_launched(environment(shell))) << "srun -n1 --pty bash";
  EXPECT_EQ(read(shell).world_size, 1) << "a program that starts no ranks is one";
}

TEST(Environment, Timeout) {
  using namespace std::chrono_literals;
  auto timeout = [](const char* text) { return read_timeout(environment({{"DIST_TIMEOUT", text}})); };
  EXPECT_EQ(read_timeout(environment({})), default_timeout);
  EXPECT_EQ(timeout("90"), 90s);
  EXPECT_EQ(timeout("0.25"), 250ms);
  EXPECT_EQ(timeout("1e18"), no_timeout);
}

TEST(SlurmNodes, TheFirstHostOfEveryKindOfList) {
  const std::vector<std::tuple<const char*, const char*, bool>> cases{
      {"node1", "node1", false},
      {"node1,node2", "node1", true},
      {"node[01-04,07],other3", "node01", true},
      {"n[5]", "n5", false},
      {"n[5],m", "n5", true},
      {"rack[1-2]-n[3,5]", "rack1-n3", true},
      {"gpu-[7,9].hpc", "gpu-7.hpc", true},
      {"a.b.c", "a.b.c", false}};
  for (const auto& [list, first, several] : cases) {
    const auto nodes = parse_slurm_nodes("SLURM_STEP_NODELIST", list);
    EXPECT_EQ(nodes.first, first) << list;
    EXPECT_EQ(nodes.several, several) << list;
  }
  for (const char* list : {"", ",a", "node[", "node[1", "node]", "node[]", "node[[1]]", "node[-3]"}) {
    expect_error(Errc::invalid_argument, {"SLURM_STEP_NODELIST", list, "MASTER_ADDR"},
                 [&] { parse_slurm_nodes("SLURM_STEP_NODELIST", list); });
  }
}

}  // namespace
}  // namespace dist::test
