//! `closc export ansible`: an inventory of all switches, and a play that applies the configuration of each.

use std::sync::atomic::{AtomicUsize, Ordering};

use closc_plan::Plan;
use closc_platform::Os;
use closc_provision::ansible::{self, Device};
use closc_render::Artefact;
use closc_topology::Switch;
use rayon::prelude::*;

use super::configuration::Source;
use super::{list_below, put};
use crate::args::Args;
use crate::args::export::AnsibleArgs;
use crate::input;
use crate::output::{self, Outcome};

pub(super) fn run(args: &Args, command: &AnsibleArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let source = Source::new(plan, command.overlay.as_deref())?;
    let switches: Vec<Switch> = plan.switches().collect();
    let programmed = switches.iter().filter(|switch| plan.os(**switch).is_programmed()).count();
    if programmed > 0 && !args.quiet {
        output::say(format!(
            "note: {programmed} switches run P4: they are in the inventory, and the play leaves them to `closc push`"
        ));
    }
    for os in Os::ALL.into_iter().filter(|os| !os.has_play() && !os.is_programmed()) {
        let left = switches.iter().filter(|switch| plan.os(**switch) == os).count();
        if left > 0 && !args.quiet {
            output::say(format!(
                "note: {left} switches run `{}`: they are in the inventory with their files, and the play does not apply \
                 them: to replace the whole configuration would remove what is the site's, users too",
                os.word()
            ));
        }
    }
    let without = AtomicUsize::new(0);
    let written = switches.par_iter().map(|switch| {
        if plan.os(*switch).is_programmed() {
            return Ok(Vec::new());
        }
        let name = plan.switch_name(*switch);
        let made = source.files(*switch)?;
        without.fetch_add(usize::from(made.lacks_users), Ordering::Relaxed);
        let files = made.named.into_iter();
        let artefacts: Vec<Artefact> =
            files.map(|(file, bytes)| Artefact::new(ansible::path(&name, &file), bytes)).collect();
        put(&command.out, &artefacts)
    });
    let mut files = written.collect::<anyhow::Result<Vec<Vec<String>>>>()?.concat();
    let without = without.into_inner();
    if without > 0 && !args.quiet {
        output::say(format!(
            "warning: the files of {without} switches name no user accounts (`system.aaa.user`), and `nv config replace` removes \
             those that a switch has: give them with `--overlay`"
        ));
    }
    let devices: Vec<Device> = switches.iter().map(|switch| device(plan, *switch)).collect();
    files.extend(put(&command.out, &ansible::render(&devices, plan.topology().zones > 1))?);
    list_below(args, &command.out, files)
}

fn device(plan: &Plan, switch: Switch) -> Device {
    Device {
        name: plan.switch_name(switch).to_string(),
        switch,
        os: plan.os(switch),
        address: plan.addresses().management(switch).map(|address| address.addr()),
        platform: plan.topology().hardware(switch).0.id.to_string(),
        loopback: plan.addresses().loopback(switch).ip(),
        asn: plan.routing().speaks_bgp().then(|| plan.addresses().asn(switch)),
    }
}
