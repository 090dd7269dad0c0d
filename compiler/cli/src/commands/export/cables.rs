//! `closc export cables`: lists for installing, buying and documenting cables.
//!
//! In: a fabric file. Out: files of each plane, and one bill of materials. Invariants: one plane is in memory at a
//! time.

use closc_cabling::list::{self, Bill, Form};
use closc_render::Artefact;
use closc_topology::PlaneId;

use super::put;
use crate::args::Args;
use crate::args::export::CablesArgs;
use crate::input;
use crate::output::{self, Outcome, Usage};

/// Writes the lists.
pub fn run(args: &Args, command: &CablesArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let is_wanted = |plane: PlaneId| command.plane.is_empty() || command.plane.contains(&plane.0);
    let planes: Vec<PlaneId> = plan.planes().filter(|plane| is_wanted(*plane)).collect();
    if command.plane.iter().any(|wanted| !planes.contains(&PlaneId(*wanted))) {
        anyhow::bail!(Usage("`--plane` names a plane that the fabric does not have; planes count from 0"));
    }
    if let Some(kind) = command.label.tier_without_racks(plan.topology()) {
        anyhow::bail!(
            "`--label` prints places of devices, but the file has none for `{kind}`: write `racks.{kind}`"
        );
    }
    let (mut files, mut bill) = (Vec::new(), Bill::default());
    for &plane in &planes {
        for form in Form::ALL {
            let artefact = Artefact::new(form.file(plane), form.render(plan, plane, &command.label));
            files.extend(put(&command.out, &[artefact])?);
        }
        bill.add(plan, plane);
    }
    let long: usize = planes.iter().map(|&plane| list::long_labels(plan, plane, &command.label)).sum();
    if long > 0 {
        output::say(format_args!(
            "note: {long} labels are longer than the {} characters that NetBox accepts: its lists omit them",
            list::LABEL_MAX
        ));
    }
    let mut whole = vec![
        Artefact::new("cables/bill.csv".to_owned(), bill.csv()),
        Artefact::new("cables/netbox-device-types.csv".to_owned(), list::device_types(plan)),
        Artefact::new("cables/netbox-devices.csv".to_owned(), list::devices(plan, &planes)),
    ];
    // Assemblies of NICs have links in all planes.
    if planes.len() == plan.planes().count() {
        whole.push(Artefact::new("cables/assemblies.csv".to_owned(), list::assemblies_csv(plan)));
        let netbox = list::netbox_assemblies(plan, &command.label);
        whole.push(Artefact::new("cables/netbox-assemblies.csv".to_owned(), netbox));
        let most = list::PROFILE_LINKS_MAX;
        let large = list::links_of_large(plan, most);
        if large > 0 {
            output::say(format_args!(
                "note: {large} links are in assemblies of more than {most} links, for which NetBox has no profile: each link is a \
                 cable in `netbox-assemblies.csv`"
            ));
        }
    }
    let racks = list::racks(plan, &planes);
    whole.extend(racks.map(|racks| Artefact::new("cables/netbox-racks.csv".to_owned(), racks)));
    files.extend(put(&command.out, &whole)?);
    super::list_below(args, &command.out, files)
}
