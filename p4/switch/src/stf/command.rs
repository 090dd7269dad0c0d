//! Control-plane commands of BMv2 in a script, which p4c's runner passes on unchanged.

use super::run::{Runner, find};
use super::value::number;
use crate::bits;
use crate::state::{CloneSession, Counter, Meter, MeterConfig, Replica};

/// Factor from rates per microsecond to rates per second.
const PER_SECOND: f64 = 1e6;

/// Arguments of one command.
struct Args<'a> {
    command: &'a str,
    args: &'a [String],
}

impl Args<'_> {
    fn text(&self, at: usize) -> Result<&str, String> {
        let needs = || format!("`{}` needs more arguments", self.command);
        self.args.get(at).map(String::as_str).ok_or_else(needs)
    }

    fn number<N: TryFrom<num_bigint::BigInt>>(&self, at: usize) -> Result<N, String> {
        let too_large = |_| format!("`{}`: argument {} is too large", self.command, at + 1);
        N::try_from(number(self.text(at)?)?).map_err(too_large)
    }

    fn ports(&self) -> Result<Vec<u32>, String> {
        (1..self.args.len()).map(|at| self.number(at)).collect()
    }

    /// Reads two rates with their bursts.
    fn rates(&self, at: usize) -> Result<MeterConfig, String> {
        let one = |at| {
            let text = self.text(at)?;
            let problem = || format!("`{text}` is not a rate with a burst");
            let (rate, burst) = text.split_once(':').ok_or_else(problem)?;
            let per_us: f64 = rate.parse().map_err(|_| problem())?;
            if !per_us.is_finite() || per_us < 0.0 {
                return Err(problem());
            }
            Ok(((per_us * PER_SECOND).round() as u64, burst.parse().map_err(|_| problem())?))
        };
        let ((cir, cburst), (pir, pburst)) = (one(at)?, one(at + 1)?);
        Ok(MeterConfig { cir, cburst, pir, pburst })
    }
}

impl Runner<'_> {
    pub(super) fn command(&mut self, command: &str, args: &[String]) -> Result<(), String> {
        let args = Args { command, args };
        match command.split('_').next() {
            Some("mirroring") => self.mirroring(&args),
            Some("mc") => self.multicast(&args),
            Some("register") => self.register(&args),
            Some("counter") => self.counter_command(&args),
            Some("meter") => self.meter(&args),
            _ => Err(unknown(&args)),
        }
    }

    fn mirroring(&mut self, args: &Args<'_>) -> Result<(), String> {
        let session: u32 = args.number(0)?;
        let replication = &mut self.engine.replication;
        let replicas = match args.command {
            "mirroring_add" => vec![Replica { instance: 0, port: args.number(1)? }],
            "mirroring_add_mc" => replication.replicas(args.number(1)?).to_vec(),
            "mirroring_delete" => {
                replication.sessions.remove(&session);
                return Ok(());
            }
            "mirroring_get" => {
                let found = replication.sessions.contains_key(&session);
                return if found { Ok(()) } else { Err(format!("there is no session {session}")) };
            }
            _ => return Err(unknown(args)),
        };
        replication.sessions.insert(session, CloneSession { replicas, ..CloneSession::default() });
        Ok(())
    }

    fn multicast(&mut self, args: &Args<'_>) -> Result<(), String> {
        let first: u32 = args.number(0)?;
        match args.command {
            "mc_mgrp_create" => {
                self.groups.insert(first, Vec::new());
            }
            "mc_node_create" => {
                self.nodes.push((first, args.ports()?));
                return Ok(());
            }
            "mc_node_update" => {
                let node = self.nodes.get_mut(first as usize).ok_or("the node does not exist")?;
                node.1 = args.ports()?;
            }
            "mc_node_associate" => {
                let node: u32 = args.number(1)?;
                self.nodes.get(node as usize).ok_or("the node does not exist")?;
                self.groups.entry(first).or_default().push(node as usize);
            }
            _ => return Err(unknown(args)),
        }
        for (group, nodes) in &self.groups {
            let of_node = |node: &usize| {
                let (instance, ports) = &self.nodes[*node];
                ports.iter().map(|port| Replica { instance: *instance, port: *port })
            };
            self.engine.replication.groups.insert(*group, nodes.iter().flat_map(of_node).collect());
        }
        Ok(())
    }

    fn register(&mut self, args: &Args<'_>) -> Result<(), String> {
        let at = find(self.program.registers.iter().map(|r| &r.name), args.text(0)?)?;
        let spec = &self.program.registers[at];
        let bank = &mut self.engine.arrays.registers[at];
        let done = match args.command {
            "register_reset" => {
                bank.clear();
                true
            }
            "register_read" => bank.get(args.number(1)?).is_some(),
            "register_write" => {
                let mut words = vec![0; spec.words()];
                bits::set_big(&mut words, &number(args.text(2)?)?);
                bank.set(args.number(1)?, &words)
            }
            _ => return Err(unknown(args)),
        };
        if done { Ok(()) } else { Err(no_index("register", &spec.name, args.text(1)?)) }
    }

    fn counter_command(&mut self, args: &Args<'_>) -> Result<(), String> {
        let index = args.number(1)?;
        self.counter(args.text(0)?, index)?;
        match args.command {
            "counter_read" => {}
            "counter_write" => {
                let at = find(self.program.counters.iter().map(|a| &a.name), args.text(0)?)?;
                let counter = Counter { packets: args.number(2)?, bytes: args.number(3)? };
                self.engine.arrays.counters[at].set(index, counter);
            }
            _ => return Err(unknown(args)),
        }
        Ok(())
    }

    fn meter(&mut self, args: &Args<'_>) -> Result<(), String> {
        let at = find(self.program.meters.iter().map(|m| &m.name), args.text(0)?)?;
        let name = &self.program.meters[at].name;
        let tables = &self.program.tables;
        if let Some(table) =
            tables.iter().position(|table| table.meter.is_some_and(|meter| usize::from(meter.array) == at))
        {
            return self.direct_meter(args, table);
        }
        let bank = &mut self.engine.arrays.meters[at];
        let (first, last, config) = match args.command {
            "meter_get_rates" => {
                let index: u32 = args.number(1)?;
                return bank.get(index).map(drop).ok_or_else(|| no_index("meter", name, &index.to_string()));
            }
            "meter_set_rates" => {
                let index: u32 = args.number(1)?;
                (index, index, args.rates(2)?)
            }
            "meter_array_set_rates" => (0, bank.size().saturating_sub(1), args.rates(1)?),
            _ => return Err(unknown(args)),
        };
        for index in first..=last {
            let mut meter = Meter::default();
            meter.configure(Some(config));
            if !bank.set(index, meter) {
                return Err(no_index("meter", name, &index.to_string()));
            }
        }
        Ok(())
    }
}

impl Runner<'_> {
    /// Sets the rates of the direct meter of a named entry.
    fn direct_meter(&mut self, args: &Args<'_>, table: usize) -> Result<(), String> {
        if args.command != "meter_set_rates" {
            return Err(format!("`{}` is the meter of a table's entries, not an array", args.text(0)?));
        }
        let handle = self.handle(table, args.text(1)?)?;
        let config = args.rates(2)?;
        let entry = self.engine.tables[table].get_mut(handle).ok_or("the entry was removed")?;
        entry.meter.get_or_insert_default().configure(Some(config));
        Ok(())
    }
}

fn unknown(args: &Args<'_>) -> String {
    format!("command `{}` is not known", args.command)
}

fn no_index(what: &str, name: &str, index: &str) -> String {
    format!("{what} `{name}` has no index {index}")
}
